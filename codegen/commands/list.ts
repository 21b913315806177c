/** `list`: prints the entries, filtered, as a table or as JSON. */

import type { ModelEntry } from '../../src/generated/types.ts'
import { ownCompiler } from '../compile.ts'
import { compareText, formatFindings, isError, UsageError } from '../findings.ts'
import type { Output } from '../output.ts'
import { type Project, readProject } from '../project.ts'
import { didYouMean } from '../spelling.ts'
import { parseOptions } from './options.ts'

const FILTERS: Readonly<Record<string, (entry: ModelEntry) => readonly string[]>> = {
  channel: entry => [entry.channel],
  endpoint: entry => entry.endpoints,
  capability: entry => entry.capabilities,
  family: entry => [entry.family],
  vendor: entry => [entry.vendor],
  per: entry => [entry.price.per],
  upstream: entry => entry.upstreams.map(target => target.via),
}

export async function list(project: Project, args: readonly string[], output: Output): Promise<number> {
  const filterOptions = Object.fromEntries(Object.keys(FILTERS).map(name => [name, { type: 'string' as const }]))
  const parsed = parseOptions(args, { ...filterOptions, json: { type: 'boolean' } })
  const values: Readonly<Record<string, unknown>> = parsed.values
  const { tables, findings } = ownCompiler().compile(await readProject(project))
  if (tables === null) {
    output.err(formatFindings(findings.filter(isError), 'text'))
    return 1
  }
  let entries = tables.entries.toSorted((a, b) => compareText(a.id, b.id))
  for (const [name, wordsOf] of Object.entries(FILTERS)) {
    const wanted = values[name]
    if (typeof wanted !== 'string') continue
    const known = [...new Set(tables.entries.flatMap(wordsOf))].toSorted()
    if (!known.includes(wanted))
      throw new UsageError(`no entry has the ${name} "${wanted}"; ${didYouMean(wanted, known)}`)
    entries = entries.filter(entry => wordsOf(entry).includes(wanted))
  }
  if (values.json === true) output.out(JSON.stringify(entries.map(plainEntry), null, 2))
  else output.out(renderTable(entries))
  return 0
}

/** Leaves out the resolved dialects, which would swamp everything else. */
function plainEntry(entry: ModelEntry): object {
  const upstreams = entry.upstreams.map(({ via, model, standard, weight }) => ({ via, model, standard, weight }))
  return { ...entry, upstreams }
}

function renderTable(entries: readonly ModelEntry[]): string {
  const head = ['id', 'VND', 'per', 'channel', 'context', 'output', 'capabilities', 'upstream']
  const rows = entries.map(entry => [
    entry.id,
    String(entry.price.vnd),
    entry.price.per,
    entry.channel,
    String(entry.contextTokens ?? '–'),
    String(entry.outputTokensMax ?? '–'),
    entry.capabilities.join(' ') || '–',
    entry.upstreams.map(target => `${target.via}:${target.model}`).join(' '),
  ])
  const numeric = new Set([1, 4, 5])
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => (row[column] ?? '').length)))
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) =>
        numeric.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line), `${rows.length} ${rows.length === 1 ? 'entry' : 'entries'}`].join('\n')
}
