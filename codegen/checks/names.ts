/** Checks names for conflicts: clients may write them in any case, and with their vendor's name in front. */

import type { SourceFile } from '../source.ts'
import { PER_CALL_PREFIX, prefixOf } from '../standards.ts'
import { asRecord, asText, type CatalogueView, type EntryView, type Place, type Report } from '../view.ts'
import { isAcknowledged } from './prices.ts'

/** What `acknowledged` and price-diff call the entry that serves unknown names. */
const FALLBACK = 'fallback'

/**
 * Checks that no alias equals another alias or a name of an entry, ignoring case and a vendor prefix, and that names keep what
 * they promise: `req/` a price per call.
 */
export function checkNames(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place: Place = { file: view.main, path: ['aliases'] }
  const vendors = vendorsOf(view)
  const seen = new Map<string, string>()
  for (const entry of view.entries)
    if (entry.id === FALLBACK)
      report(entry, ['id'], 'name-reserved', '"fallback" means the fallback', 'rename the entry')
  for (const alias of Object.keys(asRecord(view.settings.aliases))) {
    const lower = alias.toLowerCase()
    const other = seen.get(lower)
    if (other !== undefined) {
      const message = `"${alias}" and "${other}" differ only in case`
      report(place, [alias], 'alias-repeated', message, 'keep one: names match in any case', 'key')
    } else seen.set(lower, alias)
    if (view.byId.has(lower)) {
      const isSame = lower === alias
      const message = isSame
        ? `"${alias}" is the id of an entry`
        : `"${alias}" is the entry "${lower}" in a different case`
      const fix = isSame
        ? 'rename the alias or the entry'
        : 'rename the alias, or leave it out: names match in any case'
      report(place, [alias], 'alias-shadows-id', message, fix, 'key')
      continue
    }
    checkPromise(view, alias, report)
    const own = ofVendor(view, vendors, lower)
    if (own === undefined) continue
    const message = `"${alias}" is the entry "${own.id}" with its vendor's name in front`
    const fix = "rename the alias, or leave it out: names also match with their vendor's name in front"
    report(place, [alias], 'alias-shadows-vendor', message, fix, 'key')
  }
}

function checkPromise(view: CatalogueView, alias: string, report: Report): void {
  const place: Place = { file: view.main as SourceFile, path: ['aliases'] }
  const goal = asText(asRecord(view.settings.aliases)[alias])
  const lower = alias.toLowerCase()
  if (lower === FALLBACK) {
    const fix = `write \`fallback: ${goal}\` outside \`aliases\`, or rename the alias`
    report(place, [alias], 'name-reserved', '"fallback" is a setting, not an alias', fix, 'key')
  }
  const entry = view.byId.get(goal)
  if (prefixOf(lower) !== PER_CALL_PREFIX || entry?.price?.per !== 'mtok' || isAcknowledged(view, alias, entry.price))
    return
  const { vnd, per } = entry.price
  const message = `"${alias}" reads like a price per call, but "${goal}" costs ${vnd} per ${per}`
  const fix = `name an entry under ${PER_CALL_PREFIX}/, or acknowledge { name: ${alias}, price: { vnd: ${vnd}, per: ${per} } }`
  report(place, [alias], 'alias-unit', message, fix)
}

/**
 * Checks that each vendor alias (`vendors`) stands for a known vendor and equals neither a vendor nor a prefix of entry ids, that
 * no vendor equals such a prefix, and that `vendor_names` only names known vendors.
 */
export function checkVendors(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place: Place = { file: view.main, path: ['vendors'] }
  const known = new Set(view.families.map(({ value }) => asText(value.vendor)))
  const prefixes = [PER_CALL_PREFIX, view.service]
  for (const family of view.families) {
    const vendor = asText(family.value.vendor)
    if (vendor === '' || !prefixes.includes(vendor)) continue
    report(family, ['vendor'], 'vendor-taken', `"${vendor}/" is a prefix of ids`, 'write another name')
  }
  for (const [name, vendor] of Object.entries(asRecord(view.settings.vendors))) {
    if (prefixes.includes(name)) {
      report(place, [name], 'vendor-taken', `"${name}/" is a prefix of ids`, 'write another name', 'key')
    } else if (known.has(name)) {
      report(place, [name], 'vendor-taken', `"${name}" is already a vendor`, 'leave it out', 'key')
    }
    if (typeof vendor !== 'string' || known.has(vendor)) continue
    const fix = `write one of: ${[...known].toSorted().join(', ')}`
    report(place, [name], 'vendor-unknown', `no family has the vendor "${vendor}"`, fix)
  }
  for (const vendor of Object.keys(asRecord(view.settings.vendor_names))) {
    if (known.has(vendor)) continue
    const fix = `write one of: ${[...known].toSorted().join(', ')}`
    const names: Place = { file: view.main, path: ['vendor_names'] }
    report(names, [vendor], 'vendor-unknown', `no family has the vendor "${vendor}"`, fix, 'key')
  }
}

/** Maps each vendor, and each alias of a vendor, to the vendor. */
function vendorsOf(view: CatalogueView): ReadonlyMap<string, string> {
  const further = Object.entries(asRecord(view.settings.vendors)).map(([name, vendor]): [string, string] => [
    name,
    asText(vendor),
  ])
  return new Map([
    ...further,
    ...view.families.map(({ value }): [string, string] => [asText(value.vendor), asText(value.vendor)]),
  ])
}

function ofVendor(view: CatalogueView, vendors: ReadonlyMap<string, string>, name: string): EntryView | undefined {
  const slash = name.indexOf('/')
  const entry = slash < 0 ? undefined : view.byId.get(name.slice(slash + 1))
  if (entry === undefined) return undefined
  return vendors.get(name.slice(0, slash)) === asText(entry.model.family.value.vendor) ? entry : undefined
}
