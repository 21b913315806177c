/** Warns about entries sold below cost. All of them share one finding, because nobody reads a long list of warnings. */

import type { Tables } from '../../src/generated/types.ts'
import type { Finding } from '../findings.ts'
import { type CatalogueView, reporter } from '../view.ts'
import { entryMargins, loses } from './margins.ts'

/** Maximum number of entries that the finding names. */
const NAMED_MAX = 5

/** Warns if prices are below cost on the view's date. An entry's first mix, its most typical call, decides. */
export function checkMargins(view: CatalogueView, tables: Tables): Finding[] {
  const findings: Finding[] = []
  if (view.today === null) return findings
  const margins = entryMargins(tables, view.today)
  const losing = margins.filter(loses)
  const worst = losing[0] === undefined ? undefined : view.byId.get(losing[0].id)
  if (worst === undefined) return findings
  const named = losing.slice(0, NAMED_MAX).map(({ id, price, mixes: [first] }) => {
    const cost = first === undefined ? 0n : first.costMicroVnd
    return `${id} (${price.vnd} VND per ${price.per}, costs ${(cost + 500_000n) / 1_000_000n})`
  })
  const rest = losing.length - named.length
  const priced = margins.filter(({ mixes }) => mixes.length > 0).length
  const list = rest > 0 ? `${named.join(', ')} and ${rest} more` : named.join(', ')
  reporter(findings)(
    worst,
    ['price', 'vnd'],
    'below-cost',
    `${losing.length} of ${priced} entries whose cost is known are sold below it: ${list}`,
    'write what you pay (`discount` in upstreams.yaml, `cost` in families/), or raise the price; `catalogue margin` shows all',
  )
  return findings
}
