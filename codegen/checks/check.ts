/** Runs all checks that no single file's schema can express. */

import type { Finding } from '../findings.ts'
import { type CatalogueView, type Report, reporter } from '../view.ts'
import { checkConnections } from './connections.ts'
import { checkCosts } from './costs.ts'
import { checkCaps, checkCounts, checkEntries, checkFamilies } from './entries.ts'
import { checkExtras } from './extras.ts'
import { checkNames, checkVendors } from './names.ts'
import { checkAcknowledgements, checkPrices } from './prices.ts'
import { checkReasoning } from './reasoning.ts'
import { checkAliases, checkFallback } from './references.ts'
import { checkDeprecations, checkEnds } from './retirements.ts'
import { checkRuleExtras } from './rule-extras.ts'
import { checkRules } from './rules.ts'
import { checkHosts, checkTargets } from './upstreams.ts'
import { checkWires } from './wires.ts'

const CHECKS: readonly ((view: CatalogueView, report: Report) => void)[] = [
  checkFamilies,
  checkEntries,
  checkReasoning,
  checkPrices,
  checkCosts,
  checkCaps,
  checkCounts,
  checkAcknowledgements,
  checkAliases,
  checkNames,
  checkVendors,
  checkFallback,
  checkDeprecations,
  checkEnds,
  checkHosts,
  checkConnections,
  checkTargets,
  checkWires,
  checkRules,
  checkRuleExtras,
  checkExtras,
]

export function checkCatalogue(view: CatalogueView): Finding[] {
  const findings: Finding[] = []
  const report = reporter(findings)
  for (const check of CHECKS) check(view, report)
  return findings
}
