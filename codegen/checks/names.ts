/** Checks names for conflicts: clients may write them in any case, and with their vendor's name in front. */

import { PER_CALL_PREFIX } from '../standards.ts'
import { asRecord, asText, type CatalogueView, type EntryView, type Place, type Report } from '../view.ts'

/** Checks that no alias equals another alias or a name of an entry, ignoring case and a vendor prefix. */
export function checkNames(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place: Place = { file: view.main, path: ['aliases'] }
  const vendors = vendorsOf(view)
  const seen = new Map<string, string>()
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
    const own = ofVendor(view, vendors, lower)
    if (own === undefined) continue
    const message = `"${alias}" is the entry "${own.id}" with its vendor's name in front`
    const fix = "rename the alias, or leave it out: names also match with their vendor's name in front"
    report(place, [alias], 'alias-shadows-vendor', message, fix, 'key')
  }
}

/**
 * Checks that each vendor alias (`vendors`) stands for a known vendor and equals neither a vendor nor a prefix of entry ids,
 * and that `vendor_names` only names known vendors.
 */
export function checkVendors(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place: Place = { file: view.main, path: ['vendors'] }
  const known = new Set(view.families.map(({ value }) => asText(value.vendor)))
  for (const [name, vendor] of Object.entries(asRecord(view.settings.vendors))) {
    const prefix = [PER_CALL_PREFIX, view.service].find(each => each === name)
    if (prefix !== undefined) {
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
