/**
 * Rows for a statement as one text parameter. A parameter and an array for each column cost the driver and Postgres two to
 * three times as much while a batch has fewer than about a hundred rows (docs/decisions/0015-packed-rows.md).
 */

export type PackedValue = string | number | bigint | boolean | null

/** SQL type of a column, and its value in a row. Values are written as `String` does; a time is an ISO date. */
export type PackedColumn<Row> = readonly [type: string, read: (row: Row) => PackedValue]

export interface PackedRows<Row, Name extends string> {
  /** A select over the rows that `parameter` holds: `v`, a row's values, its place `n` from 1, and these columns. */
  select(parameter: string, names: readonly Name[]): string
  /** Further columns, where `v` is at hand: a column that many parts of a statement hand on costs in each of them. */
  columns(names: readonly Name[]): string
  /** The parameter. Control characters that separate values are left out of texts, and NUL, which Postgres cannot store. */
  pack(rows: readonly Row[]): string
}

const ROW_END = '\x1d'
const VALUE_END = '\x1f'
const NULL = '\x1e'
const LEFT_OUT = `[\0${ROW_END}${VALUE_END}${NULL}]`
const NEEDS_CARE = new RegExp(LEFT_OUT)
const UNSAFE = new RegExp(LEFT_OUT, 'g')

/** Called twice, so that the type of a row can be given and the names of the columns are inferred. */
export function packedRows<Row>() {
  return <Name extends string>(columns: Readonly<Record<Name, PackedColumn<Row>>>): PackedRows<Row, Name> => {
    const all = Object.entries<PackedColumn<Row>>(columns)
    const readers = all.map(([, [, read]]) => read)
    const fields = new Map(all.map(([name, [type]], index) => [name, `v[${index + 1}]::${type} as ${name}`]))
    const listed = (names: readonly Name[]): string => names.map(name => fields.get(name)).join(', ')
    return {
      // Postgres takes unnest() for a few rows, and plans for those; string_to_table() would be a thousand. Without the
      // offset each column would take its line apart anew.
      select: (parameter, names) =>
        `select v, n, ${listed(names)}
           from (select string_to_array(line, '${VALUE_END}', '${NULL}') as v, n
                   from unnest(string_to_array(${parameter}::text, '${ROW_END}')) with ordinality as packed(line, n) offset 0) lines`,
      columns: listed,
      pack: rows => rows.map(row => readers.map(read => written(read(row))).join(VALUE_END)).join(ROW_END),
    }
  }
}

function written(value: PackedValue): string | number | bigint | boolean {
  if (value === null) return NULL
  return typeof value === 'string' && NEEDS_CARE.test(value) ? value.replaceAll(UNSAFE, '') : value
}
