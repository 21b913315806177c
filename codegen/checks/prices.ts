/**
 * Checks that prices are neither below the floor nor far from the usual price, and that acknowledged price changes are current.
 */

import { isAlias } from 'yaml'
import { asList, asNumber, asRecord, type CatalogueView, type EntryView, type Report } from '../view.ts'

export const OUTLIER_RATIO = 10
/** The median of at least this many prices with the same unit (`per`) counts as the usual price. */
const NEIGHBOURS_MIN = 3
/** Price changes above this percentage must be acknowledged in catalogue.yaml. */
export const LARGE_CHANGE_PERCENT = 50

export function checkPrices(view: CatalogueView, report: Report): void {
  const floors = asRecord(view.settings.floors)
  const neighbours = new Map<string, number[]>()
  for (const entry of view.entries) {
    if (entry.price === undefined) continue
    for (const key of [entry.price.per, `${entry.price.per} ${entry.model.family.name}`]) {
      const list = neighbours.get(key)
      if (list === undefined) neighbours.set(key, [entry.price.vnd])
      else list.push(entry.price.vnd)
    }
  }
  const medians = new Map(
    [...neighbours].map(([key, prices]) => [key, { count: prices.length, median: medianOf(prices) }]),
  )
  for (const entry of view.entries) {
    checkBorrowed(entry, report)
    if (entry.price === undefined || entry.price.vnd <= 0) continue
    // YAML reads `2,000` in braces as 2 and a key "000". Another check reports that key.
    if (Object.keys(asRecord(entry.value.price)).some(key => key !== 'vnd' && key !== 'per')) continue
    const { vnd, per } = entry.price
    const floor = asNumber(floors[per])
    if (floor !== undefined && vnd < floor) {
      report(
        entry,
        ['price', 'vnd'],
        'price-floor',
        `${vnd} VND per ${per} is below the floor of ${floor}`,
        `write at least ${floor}, or lower \`floors\` in catalogue.yaml`,
      )
      continue
    }
    const perMtok = per === 'request' ? pricePerMtok(entry) : undefined
    if (perMtok !== undefined && vnd >= perMtok) {
      const is = vnd === perMtok ? 'is also the price' : `is more than the ${perMtok}`
      const fix = 'make sure that it is not left over from a copied line, and that the two are not swapped'
      report(entry, ['price', 'vnd'], 'price-outlier', `${vnd} VND per request ${is} of a million tokens`, fix)
      continue
    }
    const family = medians.get(`${per} ${entry.model.family.name}`)
    const group = family !== undefined && family.count >= NEIGHBOURS_MIN ? family : medians.get(per)
    // With too few prices in this unit to tell what is usual, compare with the floor.
    const hasNeighbours = group !== undefined && group.count >= NEIGHBOURS_MIN
    const usual = hasNeighbours ? group.median : floor
    if (usual === undefined || (vnd / usual < OUTLIER_RATIO && usual / vnd < OUTLIER_RATIO)) continue
    report(
      entry,
      ['price', 'vnd'],
      'price-outlier',
      `${vnd} VND per ${per} is far from ${hasNeighbours ? 'its neighbours at about' : 'the floor of'} ${usual}`,
      'check for a missing or extra digit',
    )
  }
}

/** The lowest price per million tokens among the entries of the model; undefined if it is not sold by the token. */
function pricePerMtok({ model }: EntryView): number | undefined {
  const prices = model.entries.flatMap(({ price }) => (price?.per === 'mtok' && price.vnd > 0 ? [price.vnd] : []))
  return prices.length === 0 ? undefined : Math.min(...prices)
}

/** Rejects prices behind a YAML alias: changing one price would change the other. */
function checkBorrowed(entry: EntryView, report: Report): void {
  const { file, path } = entry
  if (!file.text.includes('&')) return
  const borrowed = [['price'], ['price', 'vnd']].find(at => isAlias(file.nodeAt([...path, ...at])))
  if (borrowed === undefined) return
  report(entry, borrowed, 'price-borrowed', 'the price is a YAML alias of another price', 'write it out')
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
}

/** Whether catalogue.yaml acknowledges that the entry or alias `name` will cost this much. */
export function isAcknowledged(view: CatalogueView, name: string, price: { vnd: number; per: string }): boolean {
  return asList(view.settings.acknowledged).some(item => {
    const each = asRecord(item)
    const { vnd, per } = asRecord(each.price)
    return each.name === name && vnd === price.vnd && per === price.per
  })
}

/**
 * Reports stale acknowledgements. Each must state the entry's current price or the price of its successor; the successor of an
 * entry that has been removed is the fallback.
 */
export function checkAcknowledgements(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const aliases = new Map(
    Object.entries(asRecord(view.settings.aliases)).map(([alias, id]) => [alias.toLowerCase(), id]),
  )
  const seen = new Set<unknown>()
  for (const [index, item] of asList(view.settings.acknowledged).entries()) {
    const { name, price } = asRecord(item)
    const { vnd, per } = asRecord(price)
    // Different upstreams may sell the uses of one tool at different prices; see `checkAcknowledgedUses`.
    if (per === 'use') continue
    if (seen.has(name)) {
      const place = { file: view.main, path: ['acknowledged', index] }
      report(place, ['name'], 'duplicate-item', `"${String(name)}" is acknowledged twice`, 'keep one of the two')
      continue
    }
    seen.add(name)
    if (typeof name !== 'string' || typeof vnd !== 'number' || typeof per !== 'string') continue
    const find = (id: unknown) => (typeof id === 'string' ? view.byId.get(id) : undefined)
    const entry = find(name === 'fallback' ? view.settings.fallback : (aliases.get(name.toLowerCase()) ?? name))
    const successor = entry === undefined ? find(view.settings.fallback) : find(entry.deprecated.successor)
    if ([entry, successor].some(each => each?.price?.vnd === vnd && each.price.per === per)) continue
    const current = entry?.price
    const fact = current === undefined ? 'is not in the catalogue' : `costs ${current.vnd} per ${current.per}`
    const place = { file: view.main, path: ['acknowledged', index] }
    report(
      place,
      ['price'],
      'acknowledgement-stale',
      `acknowledges ${vnd} per ${per}, but "${name}" ${fact}`,
      'correct the price, or remove the acknowledgement',
    )
  }
}
