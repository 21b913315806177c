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

/** Yields charged calls, skipping those that cost nothing. Throws if the file is empty or lacks a required column. */
export async function* readChargedCalls(chunks: AsyncIterable<string>): AsyncGenerator<ChargedCall> {
  let columns: Columns | undefined
  for await (const record of readCsv(chunks)) {
    if (columns === undefined) {
      columns = findColumns(record)
      continue
    }
    const costMicroVnd = microVnd(record[columns.cost] ?? '')
    if (costMicroVnd <= 0n) continue
    const count = (column: number | undefined) => wholeNumber(column === undefined ? '' : record[column])
    yield {
      model: record[columns.model] ?? '',
      inputTokens: count(columns.input),
      cachedInputTokens: count(columns.cached),
      cacheWriteTokens: count(columns.cacheWrite),
      outputTokens: count(columns.output),
      images: columns.images === undefined ? null : count(columns.images),
      costMicroVnd,
    }
  }
  if (columns === undefined) throw new Error('the usage file is empty')
}

function findColumns(head: readonly string[]): Columns {
  const names = head.map(name => name.toLowerCase().replace(/[^a-z]/g, ''))
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

/** Converts decimal VND to µVND. Returns 0 for any other text. */
function microVnd(text: string): bigint {
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,6}))?$/.exec(text.trim())
  return match === null ? 0n : BigInt(match[1] as string) * MICRO + BigInt((match[2] ?? '').padEnd(6, '0'))
}

function wholeNumber(text: string | undefined): bigint {
  return /^[0-9]{1,15}$/.test(text ?? '') ? BigInt(text as string) : 0n
}

/** Number of images of a call: the number in the file or, if the file has none, as many as the call's cost pays for. */
export function imagesOf({ images, costMicroVnd }: ChargedCall, priceVnd: number): bigint {
  if (images !== null && images > 0n) return images
  const price = BigInt(priceVnd) * MICRO
  const paid = (costMicroVnd + price / 2n) / price
  return paid > 0n ? paid : 1n
}
