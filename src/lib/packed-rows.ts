/**
 * Passes rows to a statement as one text parameter. For batches below about a hundred rows, an array parameter per column would
 * cost the driver and Postgres two to three times as much (docs/decisions/0015-packed-rows.md).
 */

export type PackedValue = string | number | bigint | boolean | null

/**
 * A column's SQL type, and a function that reads its value from a row. Values are converted with `String`, so times must be
 * returned as ISO strings. `packed`: the value is the text of a nested packing, whose separators must stay.
 */
export type PackedColumn<Row> = readonly [type: string, read: (row: Row) => PackedValue, packed?: 'packed']

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

/** Separators of a parameter's rows, and of rows inside a column of those. */
const SEPARATORS = {
  outer: { rowEnd: '\x1d', valueEnd: '\x1f', nothing: '\x1e' },
  nested: { rowEnd: '\x1a', valueEnd: '\x1c', nothing: '\x1b' },
} as const
const LEFT_OUT = '[\0\x1a-\x1f]'
const NEEDS_CARE = new RegExp(LEFT_OUT)
const UNSAFE = new RegExp(LEFT_OUT, 'g')

/** Columns that several packings share. Curried, like `packedRows`. */
export function packedColumns<Row>() {
  return <Name extends string>(columns: Readonly<Record<Name, PackedColumn<Row>>>) => columns
}

/** Curried, so that the caller can specify the row type while the column names are inferred. */
export function packedRows<Row>(level: keyof typeof SEPARATORS = 'outer') {
  const { rowEnd, valueEnd, nothing } = SEPARATORS[level]
  return <Name extends string>(columns: Readonly<Record<Name, PackedColumn<Row>>>): PackedRows<Row, Name> => {
    const all = Object.entries<PackedColumn<Row>>(columns)
    const readers = all.map(([, [, read, packed]]) => ({ read, isPacked: packed === 'packed' }))
    const fields = new Map(all.map(([name, [type]], index) => [name, `v[${index + 1}]::${type} as ${name}`]))
    const listed = (names: readonly Name[]): string => names.map(name => fields.get(name)).join(', ')
    return {
      // Postgres expects few rows from unnest(), but a thousand from string_to_table(). `offset 0` keeps it from splitting the
      // line again for each column.
      select: (parameter, names) =>
        `select v, n, ${listed(names)}
           from (select string_to_array(line, '${valueEnd}', '${nothing}') as v, n
                   from unnest(string_to_array(${parameter}::text, '${rowEnd}')) with ordinality as packed(line, n) offset 0) lines`,
      columns: listed,
      // Appends to one string, because joining arrays of mixed values takes a third longer.
      pack(rows) {
        let packed = ''
        for (let n = 0; n < rows.length; n++) {
          const row = rows[n]!
          for (let index = 0; index < readers.length; index++) {
            const end = index > 0 ? valueEnd : n > 0 ? rowEnd : ''
            const { read, isPacked } = readers[index]!
            const value = read(row)
            packed += `${end}${value === null ? nothing : isPacked ? value : written(value)}`
          }
        }
        return packed
      },
    }
  }
}

function written(value: NonNullable<PackedValue>): NonNullable<PackedValue> {
  return typeof value === 'string' && NEEDS_CARE.test(value) ? value.replaceAll(UNSAFE, '') : value
}
