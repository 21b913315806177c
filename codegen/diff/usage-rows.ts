/** Reads a usage export row by row, but only the columns from which prices and costs are computed. */

import { readCsv } from './csv.ts'

/** A call that was charged, as the export records it. */
export interface ChargedCall {
  readonly model: string
  readonly inputTokens: bigint
  /** Included in `inputTokens`; 0 if the file has no such column. */
  readonly cachedInputTokens: bigint
  /** Included in `inputTokens`; 0 if the file has no such column. */
  readonly cacheWriteTokens: bigint
  readonly outputTokens: bigint
  /** Null if the file has no such column. */
  readonly images: bigint | null
  readonly costMicroVnd: bigint
}

/** Accepted column names in order of preference, ignoring case and punctuation. */
const COLUMNS = {
  model: ['model', 'entry'],
  input: ['inputtokens'],
  output: ['outputtokens'],
  cost: ['costvnd', 'cost', 'chargedvnd', 'charged'],
} as const
const FURTHER_COLUMNS = {
  cached: ['cachedinputtokens', 'cachedtokens'],
  cacheWrite: ['cachewritetokens'],
  images: ['images'],
} as const
type Columns = Readonly<Record<keyof typeof COLUMNS, number> & Record<keyof typeof FURTHER_COLUMNS, number | undefined>>

const MICRO = 1_000_000n

/**
 * Yields charged calls, skipping those that cost nothing. Throws if the file is empty, lacks a required column, sums up several
 * calls in a row, or has a number or a row that cannot be read: a sum over the rest would look like the whole.
 */
export async function* readChargedCalls(chunks: AsyncIterable<string>): AsyncGenerator<ChargedCall> {
  let head: readonly string[] | undefined
  let columns: Columns | undefined
  let number = 0
  for await (const record of readCsv(chunks)) {
    number++
    if (head === undefined || columns === undefined) {
      head = record
      columns = findColumns(record)
      continue
    }
    const where = `record ${number} of the usage file`
    if (record.length !== head.length) {
      throw new Error(`${where} has ${record.length} fields instead of ${head.length}; is the file cut off?`)
    }
    const fields: Fields = { record, head, where }
    const count = (column: number | undefined) => readNumber(fields, column, 0) / MICRO
    const costMicroVnd = readNumber(fields, columns.cost, 6)
    const call = {
      model: record[columns.model] ?? '',
      inputTokens: count(columns.input),
      cachedInputTokens: count(columns.cached),
      cacheWriteTokens: count(columns.cacheWrite),
      outputTokens: count(columns.output),
      images: columns.images === undefined ? null : count(columns.images),
      costMicroVnd,
    }
    if (costMicroVnd > 0n) yield call
  }
  if (columns === undefined) throw new Error('the usage file is empty')
}

function findColumns(head: readonly string[]): Columns {
  const names = head.map(name => name.toLowerCase().replace(/[^a-z]/g, ''))
  if (names.includes('calls'))
    throw new Error('the usage file sums up calls in a column "calls"; give it with a row for each call')
  const find = (known: readonly string[]) => known.map(name => names.indexOf(name)).find(index => index >= 0)
  const need = (key: keyof typeof COLUMNS): number => {
    const found = find(COLUMNS[key])
    if (found === undefined)
      throw new Error(`the usage file has no column for ${key}; expected one called ${COLUMNS[key].join(' or ')}`)
    return found
  }
  return {
    model: need('model'),
    input: need('input'),
    output: need('output'),
    cost: need('cost'),
    cached: find(FURTHER_COLUMNS.cached),
    cacheWrite: find(FURTHER_COLUMNS.cacheWrite),
    images: find(FURTHER_COLUMNS.images),
  }
}

interface Fields {
  readonly record: readonly string[]
  readonly head: readonly string[]
  readonly where: string
}

/** A number in millionths; 0 for an empty field or no column. Throws for any other text than a number with up to `decimals`. */
function readNumber({ record, head, where }: Fields, column: number | undefined, decimals: number): bigint {
  const text = column === undefined ? '' : (record[column] ?? '').trim()
  if (text === '') return 0n
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,6}))?$/.exec(text)
  const fraction = match?.[2] ?? ''
  if (match === null || fraction.length > decimals) {
    const name = head[column as number] ?? ''
    throw new Error(`${where}: "${text.slice(0, 40)}" in the column "${name}" is not a plain number such as 1000000`)
  }
  return BigInt(match[1] as string) * MICRO + BigInt(fraction.padEnd(6, '0'))
}

/** Number of images of a call: the number in the file or, if the file has none, as many as the call's cost pays for. */
export function imagesOf({ images, costMicroVnd }: ChargedCall, priceVnd: number): bigint {
  if (images !== null && images > 0n) return images
  const price = BigInt(priceVnd) * MICRO
  const paid = (costMicroVnd + price / 2n) / price
  return paid > 0n ? paid : 1n
}
