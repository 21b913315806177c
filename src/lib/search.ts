/**
 * Searches texts in a table that grows without end. Indexes find rows in which a column equals the search text or begins with
 * it, however old the rows are. Indexes cannot find the text inside another text, so each page also compares a limited number
 * of rows one by one, newest first, and reports how far back it got.
 */

import { type AnySql, escapeLike } from './database.ts'

/**
 * Where the next page of a search continues: below row number `indexed` for rows that an index finds, and below row number
 * `compared` for rows compared one by one.
 */
export interface SearchPlace {
  readonly indexed: number
  readonly compared: number
}

export interface SearchPage {
  /** The rows' numbers, in descending order. */
  readonly ids: readonly number[]
  /** Null at the end of the table. */
  readonly next: SearchPlace | null
  /** Time of the oldest row compared, if the page ended at its limit of compared rows; otherwise null. */
  readonly comparedTo: Date | null
}

/**
 * Constant parts of the SQL statement. In them, $4 is the search text, and $5 is the same with the wildcards of `like` escaped.
 * Parameters from $7 on come from the caller.
 */
export interface SearchConditions {
  /** Selects the rows to search, with the columns `id`, a number that grows with time, and `at`. */
  readonly rows: string
  /** SQL condition that a row contains the search text. It is checked row by row. */
  readonly contains: string
  /** SQL conditions for exact matches, such as by amount. Each needs an index whose last column is the row's number. */
  readonly equals: readonly string[]
  /**
   * SQL expressions for lower-case texts. A row is found if one of its texts begins with the search text. Each expression needs
   * an index with `text_pattern_ops`.
   */
  readonly beginnings: readonly string[]
}

/**
 * If more rows than this begin with the search text, only rows that equal it are looked up by index. The row-by-row comparison
 * finds the others soon enough.
 */
const BEGINNINGS_MAX = 1_000
const NUMBER_MAX = Number.MAX_SAFE_INTEGER

/**
 * Builds the statement for `searchPage`. Its parameters: $1 and $2 are `indexed` and `compared` of the SearchPlace, $3 is the
 * maximum number of rows to find, $4 and $5 are the search text (see `SearchConditions`), and $6 is the maximum number of rows
 * to compare. The comparison skips rows that an index finds, so that no row is on two pages.
 */
export function searchStatement({ rows, contains, equals, beginnings }: SearchConditions): string {
  const begun = beginnings.map(
    beginning => `
  select id from (
    select id, whole = lower($4) as is_whole, count(*) over () as rows from (
      select id, ${beginning} as whole from rows where ${beginning} like lower($5) || '%' escape '\\'
       order by ${beginning} using ~<~ limit ${BEGINNINGS_MAX} + 1) begun) counted
   where is_whole or rows <= ${BEGINNINGS_MAX}`,
  )
  const equal = equals.map(
    condition => `
  (select id from rows where ${condition} and id < $1::text::bigint order by id desc limit $3::text::integer)`,
  )
  return `
with rows as not materialized (${rows}),
begun as materialized (${begun.join(' union ')}),
compared as materialized (
  select id, at, (${contains}) and not coalesce(${equals.join(' or ')}, false) as is_found
    from (select * from rows where id < $2::text::bigint order by id desc limit $6::text::integer) newest),
bottom as (select case when count(*) = $6::text::integer then min(id) else 0 end as id, min(at) as at from compared),
indexed as (select id from begun where id < $1::text::bigint union ${equal.join(' union ')}),
found as (
  select id from indexed union all select id from compared where is_found and id not in (select id from begun)
   order by id desc limit $3::text::integer)
select bottom.id, bottom.at, array_to_string(array(select id from found order by id desc), ',') as ids from bottom`
}

/** The next page of rows that match this text, newest first. */
export async function searchPage(
  sql: AnySql,
  statement: string,
  given: {
    readonly text: string
    /** Values of the parameters from $7 on. */
    readonly parameters: readonly (string | null)[]
    readonly place?: SearchPlace | undefined
    readonly limit: number
    readonly comparedMax: number
  },
): Promise<SearchPage> {
  const { text, parameters, limit, comparedMax, place = { indexed: NUMBER_MAX, compared: NUMBER_MAX } } = given
  const numbers = [place.indexed, place.compared, limit].map(String)
  const row = (
    await sql.unsafe(statement, [...numbers, text, escapeLike(text), String(comparedMax), ...parameters])
  )[0]!
  const ids: number[] = row.ids === '' ? [] : row.ids.split(',').map(Number)
  const bottom = Number(row.id)
  // The page contains every match down to this row number.
  const last = ids.length < limit ? 0 : (ids.at(-1) as number)
  const next = { indexed: Math.min(place.indexed, last), compared: Math.max(last, bottom) }
  const isAtEnd = next.indexed === 0 && next.compared === 0
  return { ids, next: isAtEnd ? null : next, comparedTo: last < bottom ? row.at : null }
}

/** The next page of all rows, without a search text. The statement selects at most $2 rows with `id` below $1, highest first. */
export async function listPage(
  sql: AnySql,
  statement: string,
  { place, limit }: { readonly place?: SearchPlace | undefined; readonly limit: number },
): Promise<SearchPage> {
  const rows = await sql.unsafe(statement, [String(place?.indexed ?? NUMBER_MAX), String(limit)])
  const ids = rows.map(row => Number(row.id))
  const last = ids.length < limit ? undefined : ids.at(-1)
  return { ids, next: last === undefined ? null : { indexed: last, compared: last }, comparedTo: null }
}

/** Writes a place as text for a URL's query. `readPlace` reads it. */
export function writePlace({ indexed, compared }: SearchPlace): string {
  return indexed === compared ? String(indexed) : `${indexed}-${compared}`
}

/** Reads a place from a URL's query; undefined if the text is not a place. */
export function readPlace(text: string): SearchPlace | undefined {
  const [, indexed, compared = indexed] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? []
  return indexed === undefined ? undefined : { indexed: Number(indexed), compared: Number(compared) }
}
