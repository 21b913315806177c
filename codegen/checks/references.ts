/** Checks of names that point at entries: aliases, the fallback, successors. */

import { nearestWord } from '../spelling.ts'
import { isStandard, KINDS } from '../standards.ts'
import { asRecord, asText, type CatalogueView, type EntryView, type Report } from '../view.ts'

export function checkAliases(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const place = { file: view.main, path: ['aliases'] }
  const aliases = asRecord(view.settings.aliases)
  for (const [alias, goal] of Object.entries(aliases)) {
    if (view.byId.has(alias)) {
      report(
        place,
        [alias],
        'alias-shadows-id',
        `"${alias}" is the id of an entry`,
        'rename the alias or the entry',
        'key',
      )
    }
    if (typeof goal !== 'string') continue
    const entry = view.byId.get(goal)
    if (entry !== undefined) reportRetiring(view, report, ['aliases', alias], `alias "${alias}"`, entry)
    else if (Object.hasOwn(aliases, goal)) {
      const end = aliases[goal]
      report(place, [alias], 'alias-of-alias', `"${goal}" is an alias itself`, `write the entry: ${String(end)}`)
    } else report(place, [alias], 'alias-unknown', `"${goal}" is not an entry`, suggestEntry(view, goal))
  }
}

export function checkFallback(view: CatalogueView, report: Report): void {
  const fallback = asText(view.settings.fallback)
  if (view.main === undefined || fallback === '') return
  const place = { file: view.main, path: [] }
  const entry = view.byId.get(fallback)
  if (entry === undefined) {
    report(place, ['fallback'], 'fallback-unknown', `"${fallback}" is not an entry`, suggestEntry(view, fallback))
    return
  }
  if (isStandard(entry.standard) && KINDS[entry.standard] !== 'chat') {
    const message = `"${fallback}" makes ${KINDS[entry.standard] === 'image' ? 'images' : 'speech'}`
    report(place, ['fallback'], 'fallback-not-chat', message, 'name an entry that chats')
  }
  reportRetiring(view, report, ['fallback'], 'the fallback', entry)
}

function reportRetiring(view: CatalogueView, report: Report, at: string[], what: string, entry: EntryView): void {
  const { retires, successor } = deprecationOf(entry)
  if (retires === undefined || view.main === undefined) return
  const fix = successor === undefined ? 'point it to an entry that stays' : `write its successor: ${successor}`
  report(
    { file: view.main, path: [] },
    at,
    'alias-retired',
    `${what} means "${entry.id}", which retires on ${retires}`,
    fix,
  )
}

interface DeprecationView {
  /** The entry's own facts, else its model's. */
  readonly holder: 'entry' | 'model' | undefined
  readonly since: string | undefined
  readonly retires: string | undefined
  readonly successor: string | undefined
}

function deprecationOf(entry: EntryView): DeprecationView {
  const holder =
    entry.value.deprecated !== undefined ? 'entry' : entry.model.value.deprecated !== undefined ? 'model' : undefined
  const facts = asRecord(holder === 'entry' ? entry.value.deprecated : entry.model.value.deprecated)
  const text = (key: string) => (typeof facts[key] === 'string' ? facts[key] : undefined)
  return { holder, since: text('since'), retires: text('retires'), successor: text('successor') }
}

export function checkDeprecations(view: CatalogueView, report: Report): void {
  for (const family of view.families) {
    for (const model of family.models) {
      if (model.value.released !== undefined) checkDate(report, model, ['released'], model.value.released)
      for (const place of [model, ...model.entries]) {
        const facts = asRecord(place.value.deprecated)
        for (const key of ['since', 'retires']) checkDate(report, place, ['deprecated', key], facts[key])
        const { since, retires } = facts
        if (typeof since === 'string' && typeof retires === 'string' && retires < since) {
          report(
            place,
            ['deprecated', 'retires'],
            'date-order',
            `retires on ${retires}, before the warning of ${since}`,
            `write a day after ${since}`,
          )
        }
      }
    }
  }
  for (const entry of view.entries) checkSuccessor(view, entry, report)
}

function checkSuccessor(view: CatalogueView, entry: EntryView, report: Report): void {
  const { holder, retires, successor } = deprecationOf(entry)
  if (holder === undefined) return
  const place = holder === 'entry' ? entry : entry.model
  if (successor === undefined) {
    if (retires !== undefined) {
      report(
        place,
        ['deprecated'],
        'successor-missing',
        `"${entry.id}" retires on ${retires} without a successor`,
        'write `successor: …` with the entry that takes over',
        'key',
      )
    }
    return
  }
  const goal = view.byId.get(successor)
  const at = ['deprecated', 'successor']
  if (goal === undefined)
    report(place, at, 'successor-unknown', `"${successor}" is not an entry`, suggestEntry(view, successor))
  else if (goal === entry)
    report(place, at, 'successor-unfit', `"${entry.id}" cannot succeed itself`, 'name another entry')
  else if (deprecationOf(goal).retires !== undefined) {
    report(place, at, 'successor-unfit', `"${successor}" retires itself`, 'name an entry that stays')
  } else if (
    isStandard(goal.standard) &&
    isStandard(entry.standard) &&
    KINDS[goal.standard] !== KINDS[entry.standard]
  ) {
    report(
      place,
      at,
      'successor-unfit',
      `"${successor}" is of the kind ${KINDS[goal.standard]}, not ${KINDS[entry.standard]}`,
      'name an entry of the same kind',
    )
  }
}

function checkDate(report: Report, place: Parameters<Report>[0], at: string[], value: unknown): void {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) return
  const time = Date.parse(`${value}T00:00:00Z`)
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(value)) return
  report(place, at, 'bad-date', `${value} is not in the calendar`, 'write a day that exists, as YYYY-MM-DD')
}

/** What to write instead of a name that is not an entry. */
function suggestEntry(view: CatalogueView, name: string): string {
  const nearest = nearestWord(
    name,
    [...view.byId.keys()].filter(id => id === id.toLowerCase()),
  )
  return nearest === undefined ? 'write the id of an entry' : `did you mean "${nearest}"?`
}
