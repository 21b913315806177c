/**
 * Passes rows to a statement as one text parameter. For batches below about a hundred rows, an array parameter per column would
 * cost the driver and Postgres two to three times as much (docs/decisions/0015-packed-rows.md).
 */

export type PackedValue = string | number | bigint | boolean | null

/**
 * A column's SQL type, and a function that reads its value from a row. Values are converted with `String`, so times must be
 * returned as ISO strings.
 */
export type PackedColumn<Row> = readonly [type: string, read: (row: Row) => PackedValue]

export interface PackedRows<Row, Name extends string> {
  /**
   * SQL that selects the rows packed in `parameter`. Its columns are `v` (an array of all values of the row), `n` (the row's
   * position, from 1) and the named columns.
   */
  select(parameter: string, names: readonly Name[]): string
  /**
   * SQL that reads the named columns from `v` in the step that needs them. Passing a column through many CTEs would cost time
   * in each CTE.
   */
  columns(names: readonly Name[]): string
  /** Packs rows into one text for the parameter. Drops separator characters from texts, and NUL, which Postgres cannot store. */
  pack(rows: readonly Row[]): string
}

const ROW_END = '\x1d'
const VALUE_END = '\x1f'
const NULL = '\x1e'
const LEFT_OUT = `[\0${ROW_END}${VALUE_END}${NULL}]`
const NEEDS_CARE = new RegExp(LEFT_OUT)
const UNSAFE = new RegExp(LEFT_OUT, 'g')

/** Curried, so that the caller can specify the row type while the column names are inferred. */
export function packedRows<Row>() {
  return <Name extends string>(columns: Readonly<Record<Name, PackedColumn<Row>>>): PackedRows<Row, Name> => {
    const all = Object.entries<PackedColumn<Row>>(columns)
    const readers = all.map(([, [, read]]) => read)
    const fields = new Map(all.map(([name, [type]], index) => [name, `v[${index + 1}]::${type} as ${name}`]))
    const listed = (names: readonly Name[]): string => names.map(name => fields.get(name)).join(', ')
    return {
      // Postgres expects few rows from unnest(), but a thousand from string_to_table(). `offset 0` keeps it from splitting the
      // line again for each column.
      select: (parameter, names) =>
        `select v, n, ${listed(names)}
           from (select string_to_array(line, '${VALUE_END}', '${NULL}') as v, n
                   from unnest(string_to_array(${parameter}::text, '${ROW_END}')) with ordinality as packed(line, n) offset 0) lines`,
      columns: listed,
      // Appends to one string, because joining arrays of mixed values takes a third longer.
      pack(rows) {
        let packed = ''
        for (let n = 0; n < rows.length; n++) {
          const row = rows[n]!
          for (let index = 0; index < readers.length; index++) {
            const end = index > 0 ? VALUE_END : n > 0 ? ROW_END : ''
            packed += `${end}${written(readers[index]!(row))}`
          }
        }
        return packed
      },
    }
  }
}

function written(value: PackedValue): string | number | bigint | boolean {
  if (value === null) return NULL
  return typeof value === 'string' && NEEDS_CARE.test(value) ? value.replaceAll(UNSAFE, '') : value
}
