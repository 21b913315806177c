/** What a month of usage would have cost under other prices. */

import type { ModelEntry, Price, Tables } from '../../src/generated/types.ts'
import { compareText } from '../findings.ts'
import { readCsv } from './csv.ts'
import { heirsOf } from './heirs.ts'

export interface UsageRow {
  readonly name: string
  /** Calls that were charged. */
  readonly calls: number
  readonly oldVnd: bigint
  readonly newVnd: bigint
}

export interface UsageEffect {
  /** Largest effect first. */
  readonly rows: readonly UsageRow[]
  readonly oldVnd: bigint
  readonly newVnd: bigint
  /** Names in the usage that the base does not know. */
  readonly unknown: readonly string[]
}

interface Tally {
  calls: number
  tokens: bigint
  /** Images, for entries priced per image. */
  images: bigint
}

/** Column names that a usage export may have, in order of preference, without case and punctuation. */
const COLUMNS = {
  model: ['model', 'entry'],
  input: ['inputtokens'],
  output: ['outputtokens'],
  cost: ['costvnd', 'cost', 'chargedvnd', 'charged'],
} as const

const MICRO = 1_000_000n

/**
 * Only calls that cost something count; tokens and calls are priced anew under both catalogues, so the recorded cost
 * (which may be from a third price) does not matter. An end that is new is priced as if it had come. `today` is an ISO
 * date. Throws when a column is missing.
 */
export async function usageEffect(
  chunks: AsyncIterable<string>,
  old: Tables,
  now: Tables,
  today: string,
): Promise<UsageEffect> {
  const before = new Map(old.entries.map(entry => [entry.id, entry]))
  const tallies = await tally(chunks, before)
  const heirs = { old: heirsOf(old, today), now: heirsOf(now, today) }
  const priceNow = ({ id, kind, price }: ModelEntry): Price => {
    const atLast = heirs.now.servedAtLast(id, kind)
    const isNewEnd = atLast?.id !== heirs.old.servedAtLast(id, kind)?.id
    return (isNewEnd ? atLast : heirs.now.servedBy(id, kind))?.price ?? price
  }
  const unknown = [...tallies.keys()].filter(name => !before.has(name)).toSorted(compareText)
  const rows = [...tallies].flatMap(([name, each]): UsageRow[] => {
    const entry = before.get(name)
    if (entry === undefined) return []
    const oldPrice = heirs.old.servedBy(name, entry.kind)?.price ?? entry.price
    return [{ name, calls: each.calls, oldVnd: costVnd(each, oldPrice), newVnd: costVnd(each, priceNow(entry)) }]
  })
  const effect = (row: UsageRow) => (row.newVnd > row.oldVnd ? row.newVnd - row.oldVnd : row.oldVnd - row.newVnd)
  return {
    rows: rows.toSorted(
      (a, b) => Number(effect(b) > effect(a)) - Number(effect(b) < effect(a)) || compareText(a.name, b.name),
    ),
    oldVnd: rows.reduce((sum, row) => sum + row.oldVnd, 0n),
    newVnd: rows.reduce((sum, row) => sum + row.newVnd, 0n),
    unknown,
  }
}

async function tally(
  chunks: AsyncIterable<string>,
  before: ReadonlyMap<string, ModelEntry>,
): Promise<Map<string, Tally>> {
  const tallies = new Map<string, Tally>()
  let columns: Record<keyof typeof COLUMNS, number> | undefined
  for await (const record of readCsv(chunks)) {
    if (columns === undefined) {
      columns = findColumns(record)
      continue
    }
    const cost = microVnd(record[columns.cost] ?? '')
    if (cost <= 0n) continue
    const name = record[columns.model] ?? ''
    const each = tallies.get(name) ?? { calls: 0, tokens: 0n, images: 0n }
    tallies.set(name, each)
    each.calls++
    each.tokens += wholeNumber(record[columns.input]) + wholeNumber(record[columns.output])
    const price = before.get(name)?.price
    if (price?.per === 'image') {
      const images = (cost + (BigInt(price.vnd) * MICRO) / 2n) / (BigInt(price.vnd) * MICRO)
      each.images += images > 0n ? images : 1n
    }
  }
  if (columns === undefined) throw new Error('the usage file is empty')
  return tallies
}

function findColumns(head: readonly string[]): Record<keyof typeof COLUMNS, number> {
  const names = head.map(name => name.toLowerCase().replace(/[^a-z]/g, ''))
  const find = (key: keyof typeof COLUMNS): number => {
    const found = COLUMNS[key].map(name => names.indexOf(name)).find(index => index >= 0)
    if (found === undefined)
      throw new Error(`the usage file has no column for ${key}; expected one called ${COLUMNS[key].join(' or ')}`)
    return found
  }
  return { model: find('model'), input: find('input'), output: find('output'), cost: find('cost') }
}

/** Decimal VND as µVND; 0 for anything else. */
function microVnd(text: string): bigint {
  const match = /^([0-9]{1,15})(?:\.([0-9]{1,6}))?$/.exec(text.trim())
  return match === null ? 0n : BigInt(match[1] as string) * MICRO + BigInt((match[2] ?? '').padEnd(6, '0'))
}

function wholeNumber(text: string | undefined): bigint {
  return /^[0-9]{1,15}$/.test(text ?? '') ? BigInt(text as string) : 0n
}

/** Rounded to whole dong, for showing. */
function costVnd(each: Tally, price: Price): bigint {
  if (price.per === 'mtok') return (each.tokens * BigInt(price.vnd) + MICRO / 2n) / MICRO
  return BigInt(price.vnd) * (price.per === 'image' ? each.images : BigInt(each.calls))
}
