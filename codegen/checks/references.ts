/** Checks settings that refer to catalogue entries by name: the aliases and the fallback entry for unknown models. */

import { nearestWord } from '../spelling.ts'
import { isStandard, KINDS } from '../standards.ts'
import { asRecord, asText, type CatalogueView, type EntryView, type Report } from '../view.ts'

export function checkAliases(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place = { file: view.main, path: ['aliases'] }
  const aliases = asRecord(view.settings.aliases)
  for (const [alias, goal] of Object.entries(aliases)) {
    if (typeof goal !== 'string') continue
    const entry = view.byId.get(goal)
    if (entry !== undefined) {
      if (!isSpellingOf(alias, entry.id)) reportRetiring(view, report, ['aliases', alias], `alias "${alias}"`, entry)
    } else if (Object.hasOwn(aliases, goal)) {
      report(place, [alias], 'alias-of-alias', `"${goal}" is itself an alias`, suggestEntry(view, goal))
    } else if (!view.byId.has(alias))
      report(place, [alias], 'alias-unknown', `"${goal}" is not an entry`, suggestEntry(view, goal))
  }
}

/**
 * Whether the alias is only another spelling of the id, with or without a release date. For `model-1-5`, that includes
 * `model-1.5-20251001`, `model-1-5@20251001` and `model-1.5-2025-10-01`. If the id has a prefix, such as `svc/`, the alias may
 * omit it. Such an alias may point to a retiring entry.
 */
function isSpellingOf(alias: string, id: string): boolean {
  const plain = (name: string) => name.toLowerCase().replace(/[._:@]/g, '-')
  const name = plain(alias)
  const own = [plain(id), plain(id.slice(id.indexOf('/') + 1))].find(
    each => name === each || name.startsWith(`${each}-`),
  )
  return own !== undefined && /^(-20[0-9]{6}|-20[0-9]{2}-[0-9]{2}-[0-9]{2})?$/.test(name.slice(own.length))
}

export function checkFallback(view: CatalogueView, report: Report): void {
  const fallback = asText(view.settings.fallback)
  if (view.main === undefined || fallback === '') return
  const place = { file: view.main, path: [] }
  const entry = view.byId.get(fallback)
  if (entry === undefined) {
    const is = Object.hasOwn(asRecord(view.settings.aliases), fallback) ? 'is an alias' : 'is not an entry'
    report(place, ['fallback'], 'fallback-unknown', `"${fallback}" ${is}`, suggestEntry(view, fallback))
    return
  }
  if (isStandard(entry.standard) && KINDS[entry.standard] !== 'chat') {
    const message = `"${fallback}" makes ${KINDS[entry.standard] === 'image' ? 'images' : 'speech'}`
    report(place, ['fallback'], 'fallback-not-chat', message, 'name a chat entry')
  }
  reportRetiring(view, report, ['fallback'], 'the fallback', entry)
}

function reportRetiring(view: CatalogueView, report: Report, at: string[], what: string, entry: EntryView): void {
  const { retires, successor } = entry.deprecated
  if (retires === undefined || view.main === undefined) return
  const fix =
    successor === undefined ? 'point it to an entry that does not retire' : `write its successor: ${successor}`
  report(
    { file: view.main, path: [] },
    at,
    'alias-retired',
    `${what} means "${entry.id}", which retires on ${retires}`,
    fix,
  )
}

/** Maximum number of aliases followed in a chain. */
const ALIASES_MAX = 10

/**
 * Suggests what to write instead of a name that is not an entry's: the entry that the name leads to as an alias, or an entry
 * with a similar name.
 */
export function suggestEntry(view: CatalogueView, name: string): string {
  const aliases = asRecord(view.settings.aliases)
  let goal = name
  for (let step = 0; step < ALIASES_MAX && Object.hasOwn(aliases, goal); step++) goal = asText(aliases[goal])
  if (view.byId.has(goal)) return `write the entry: ${goal}`
  const nearest = nearestWord(
    name,
    [...view.byId.keys()].filter(id => id === id.toLowerCase()),
  )
  return nearest === undefined ? 'write the id of an entry' : `did you mean "${nearest}"?`
}
