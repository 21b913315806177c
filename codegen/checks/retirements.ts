/** Checks retirements: their dates, and what callers get and pay afterwards. */

import type { Path } from '../source.ts'
import { isStandard, KINDS, prefixOf } from '../standards.ts'
import {
  asList,
  asNumber,
  asRecord,
  type CatalogueView,
  type EntryView,
  type ModelView,
  type Place,
  type Report,
} from '../view.ts'
import { isAcknowledged, LARGE_CHANGE_PERCENT } from './prices.ts'
import { suggestEntry } from './references.ts'

const DAY_MS = 86_400_000
/**
 * Warnings start this many days before a retirement, here as in the gateway's replies (`NOTICE_DAYS` in
 * `src/catalogue/item.ts`).
 */
const SOON_DAYS = 60

export function checkDeprecations(view: CatalogueView, report: Report): void {
  for (const family of view.families) {
    for (const model of family.models) {
      if (model.value.released !== undefined) checkDate(report, model, ['released'], model.value.released)
      checkFarDate(view, model, ['released'], model.value.released, report)
      for (const place of [model, ...model.entries]) {
        checkDates(place, report)
        const facts = asRecord(place.value.deprecated)
        for (const key of ['since', 'retires']) checkFarDate(view, place, ['deprecated', key], facts[key], report)
        checkRelease(model, place, facts, report)
      }
    }
  }
  for (const entry of view.entries) checkSuccessor(view, entry, report)
}

function checkDates(place: ModelView | EntryView, report: Report): void {
  const facts = asRecord(place.value.deprecated)
  for (const key of ['since', 'retires']) checkDate(report, place, ['deprecated', key], facts[key])
  const { since, retires } = facts
  if (typeof since !== 'string' || typeof retires !== 'string' || retires >= since) return
  report(
    place,
    ['deprecated', 'retires'],
    'date-order',
    `retires on ${retires}, before the warning of ${since}`,
    `write a day after ${since}`,
  )
}

function checkRelease(
  model: ModelView,
  place: Place,
  { retires }: Readonly<Record<string, unknown>>,
  report: Report,
): void {
  const { released } = model.value
  if (typeof released !== 'string' || typeof retires !== 'string' || released < retires) return
  const message = `retires on ${retires}, but the model is released on ${released}`
  report(place, ['deprecated', 'retires'], 'date-order', message, 'correct one of the two')
}

/** A date at least this many years ahead is probably a typo. */
const FAR_YEARS = 5

/** Returns whether the day is that far ahead. */
export function checkFarDate(view: CatalogueView, place: Place, at: Path, day: unknown, report: Report): boolean {
  if (view.today === null || typeof day !== 'string' || !/^[0-9]{4}-/.test(day)) return false
  const years = Number(day.slice(0, 4)) - Number(view.today.slice(0, 4))
  if (years < FAR_YEARS) return false
  report(place, at, 'far-date', `${day} is ${years} years ahead`, 'check the year')
  return true
}

export function checkDate(report: Report, place: Place, at: Path, value: unknown): void {
  if (typeof value !== 'string' || !/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(value)) return
  const time = Date.parse(`${value}T00:00:00Z`)
  if (!Number.isNaN(time) && new Date(time).toISOString().startsWith(value)) return
  report(place, at, 'bad-date', `${value} is not a date in the calendar`, 'write a day that exists, as YYYY-MM-DD')
}

const DEPRECATED_KEYS = ['since', 'retires', 'successor']

function checkSuccessor(view: CatalogueView, entry: EntryView, report: Report): void {
  const { holder, retires, successor } = entry.deprecated
  if (holder === undefined) return
  const place = holder === 'entry' ? entry : entry.model
  if (successor === undefined) {
    const isMisspelt = Object.keys(asRecord(place.value.deprecated)).some(key => !DEPRECATED_KEYS.includes(key))
    if (retires !== undefined && !isMisspelt && hasAlternative(view, entry)) {
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
  else if (goal.deprecated.retires !== undefined) {
    report(place, at, 'successor-unfit', `"${successor}" retires too`, 'name an entry that does not retire')
  } else if (kindOf(goal) !== kindOf(entry)) {
    const message = `"${successor}" is of kind ${kindOf(goal)}, not ${kindOf(entry)}`
    report(place, at, 'successor-unfit', message, 'name an entry of the same kind')
  } else {
    checkSuccessorPrice(view, entry, goal, report)
    const lacking = lacksOf(view, entry, goal)
    if (lacking.length === 0) return
    const message = `"${successor}" lacks what callers of "${entry.id}" may need: ${lacking.join(', ')}`
    report(place, at, 'successor-lacks', message, 'make sure that their calls still work')
  }
}

/** What the entry's callers have and the successor does not offer. */
function lacksOf(view: CatalogueView, entry: EntryView, goal: EntryView): string[] {
  const offered = asList(goal.model.value.capabilities)
  const contextOf = ({ value, model }: EntryView) =>
    asNumber(value.context_tokens) ?? asNumber(model.value.context_tokens)
  const [old, now] = [contextOf(entry), contextOf(goal)]
  const isOnAws = ({ id }: EntryView) => prefixOf(id) === view.service
  return [
    ...asList(entry.model.value.capabilities)
      .filter(each => !offered.includes(each))
      .map(String),
    ...(old !== undefined && now !== undefined && now < old ? [`a context of ${old} tokens (it has ${now})`] : []),
    ...(isOnAws(entry) && !isOnAws(goal) ? ['the AWS channel'] : []),
  ]
}

/**
 * Reports a successor whose price is much higher or in another unit. Callers of the retired id will pay it without having
 * changed anything.
 */
function checkSuccessorPrice(view: CatalogueView, entry: EntryView, goal: EntryView, report: Report): void {
  const [old, now] = [entry.price, goal.price]
  if (old === undefined || now === undefined || isAcknowledged(view, entry.id, now)) return
  const isOtherUnit = old.per !== now.per
  if (!isOtherUnit && now.vnd * 100 <= old.vnd * (100 + LARGE_CHANGE_PERCENT)) return
  report(
    entry.deprecated.holder === 'entry' ? entry : entry.model,
    ['deprecated', 'successor'],
    isOtherUnit ? 'successor-unit' : 'successor-dearer',
    `"${goal.id}" costs ${now.vnd} per ${now.per}, "${entry.id}" ${old.vnd} per ${old.per}`,
    `name ${isOtherUnit ? `an entry priced per ${old.per}` : 'a cheaper entry'}, or acknowledge { name: ${entry.id}, price: { vnd: ${now.vnd}, per: ${now.per} } } in catalogue.yaml`,
  )
}

function instead({ price }: EntryView, { price: now }: EntryView): string {
  const isSame = price === undefined || (price.vnd === now?.vnd && price.per === now.per)
  return isSame ? '' : `, not ${price.vnd} per ${price.per}`
}

/** Whether there is another entry of the same kind that does not retire. */
function hasAlternative(view: CatalogueView, entry: EntryView): boolean {
  return view.entries.some(
    other => other !== entry && other.deprecated.retires === undefined && kindOf(other) === kindOf(entry),
  )
}

/** Where entries of the same kind retire without a successor: each is one entry, or a model with all of its own. */
export function successorless(view: CatalogueView, like: EntryView): readonly (EntryView | ModelView)[] {
  const ending = view.entries.filter(
    entry =>
      entry.deprecated.retires !== undefined &&
      entry.deprecated.successor === undefined &&
      kindOf(entry) === kindOf(like),
  )
  return [...new Set(ending.map(entry => (entry.deprecated.holder === 'entry' ? entry : entry.model)))]
}

function kindOf(entry: EntryView): string {
  return isStandard(entry.standard) ? KINDS[entry.standard] : 'chat'
}

/** Reports entries that have retired or soon will, as of the view's date. */
export function checkEnds(view: CatalogueView, report: Report): void {
  const { today } = view
  if (today === null) return
  for (const entry of view.entries) {
    const { holder, retires, successor } = entry.deprecated
    if (retires === undefined) continue
    const days = Math.round((Date.parse(retires) - Date.parse(today)) / DAY_MS)
    if (!(days <= SOON_DAYS)) continue
    const place = holder === 'entry' ? entry : entry.model
    const goal = successor === undefined ? undefined : view.byId.get(successor)
    const price = goal?.price === undefined ? '' : ` at ${goal.price.vnd} per ${goal.price.per}${instead(entry, goal)}`
    const at = ['deprecated', 'retires']
    if (days <= 0) {
      const outcome =
        goal === undefined ? 'no other entry of its kind can serve its calls' : `"${goal.id}" serves its calls${price}`
      const fix =
        goal === undefined
          ? 'remove it'
          : `remove it, and keep the alias ${entry.id}: ${goal.id} while anyone still asks for it`
      report(place, at, 'retired', `"${entry.id}" retired on ${retires}: ${outcome}`, fix)
    } else {
      const outcome =
        goal === undefined
          ? 'no other entry of its kind can serve its calls'
          : `"${goal.id}" will serve its calls${price}`
      const message = `"${entry.id}" retires in ${days} ${days === 1 ? 'day' : 'days'}, on ${retires}: ${outcome}`
      report(place, at, 'retires-soon', message, 'tell its callers, and make sure that this is what they should get')
    }
  }
}
