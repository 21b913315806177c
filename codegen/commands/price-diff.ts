/** `price-diff BASE`: prints how prices and facts differ from BASE, as Markdown. Fails on large changes not acknowledged. */

import { canonicalJson } from '../canonical.ts'
import { LARGE_CHANGE_PERCENT } from '../checks/prices.ts'
import { ownCompiler } from '../compile.ts'
import { type Acknowledgement, diffTables, missingAcknowledgements, type SafetyNets } from '../diff/diff.ts'
import { schemaDefaults } from '../diff/facts.ts'
import { acknowledgementLines, renderMarkdown, summarise } from '../diff/markdown.ts'
import { usageEffect } from '../diff/usage.ts'
import { formatFindings, isError, UsageError } from '../findings.ts'
import type { Output } from '../output.ts'
import { compileBase, type Project, readProject, todayOf } from '../project.ts'
import type { CatalogueView } from '../view.ts'
import { asList, asRecord } from '../view.ts'
import { bigintAsText, parseOptions, readUsageFile } from './options.ts'

export async function priceDiff(project: Project, args: readonly string[], output: Output): Promise<number> {
  const options = { usage: { type: 'string' }, threshold: { type: 'string' }, json: { type: 'boolean' } } as const
  const { values, positionals } = parseOptions(args, options, ['BASE (a commit, a branch, or a folder)'])
  const thresholdPercent = Number(values.threshold ?? LARGE_CHANGE_PERCENT)
  if (!(thresholdPercent >= 0)) throw new UsageError('--threshold must be a percentage, e.g. 50')
  const base = positionals[0] as string
  const old = await compileBase(project, base)
  const compiler = ownCompiler()
  const now = compiler.compile(await readProject(project))
  if (now.tables === null || old.tables === null) {
    output.err(formatFindings(now.findings.filter(isError), 'text'))
    return 1
  }
  const today = todayOf(project)
  const diff = diffTables(old.tables, now.tables, {
    today,
    safetyNets: { old: safetyNetsOf(old.view), now: safetyNetsOf(now.view) },
    thresholdPercent,
    acknowledged: acknowledgements(now.view, old.view),
    schemaDefaults: { old: schemaDefaults(old.schemas), now: schemaDefaults(compiler.schemas) },
  })
  const { tables: before } = old
  const { tables: after } = now
  const usage =
    values.usage === undefined
      ? undefined
      : await readUsageFile(values.usage, chunks => usageEffect(chunks, before, after, today))
  if (values.json === true) output.out(JSON.stringify({ ...diff, usage: usage ?? null }, bigintAsText, 2))
  else output.out(renderMarkdown(diff, base, thresholdPercent, usage).trimEnd())
  const open = missingAcknowledgements(diff)
  if (open.length === 0) return 0
  output.err(`${summarise(diff, thresholdPercent).replaceAll('**', '')}\nIf they are intended, add to catalogue.yaml:`)
  output.err(acknowledgementLines(open))
  return 1
}

function safetyNetsOf({ settings }: CatalogueView): SafetyNets {
  return { floors: asRecord(settings.floors), counts: asRecord(settings.counts) }
}

/**
 * The acknowledgements that count. One for the uses of a tool names no provider, so one that BASE already has was for a change of
 * back then.
 */
function acknowledgements(now: CatalogueView, old: CatalogueView): Acknowledgement[] {
  const earlier = new Set(asList(old.settings.acknowledged).map(item => canonicalJson(item)))
  return asList(now.settings.acknowledged)
    .filter(item => asRecord(asRecord(item).price).per !== 'use' || !earlier.has(canonicalJson(item)))
    .map(item => asRecord(item) as unknown as Acknowledgement)
}
