/** The usage page: totals, a chart, a row for each call, and a CSV export, all with the same filter. */

import { type KeyName, listKeyNames } from '../../accounts/own-keys.ts'
import { countUsage, exportUsageCsv } from '../../ledger/reports/csv.ts'
import { addDays, dayOf } from '../../ledger/reports/days.ts'
import { addHourly, firstSummedDay, readChoices, readHourly, SPLITS } from '../../ledger/reports/hourly.ts'
import { exportForPeople } from '../../ledger/reports/people-csv.ts'
import { readUsageRows } from '../../ledger/reports/rows.ts'
import type { UsageRow } from '../../ledger/reports/types.ts'
import { csvAnswer } from '../csv.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { day as calendarDay } from '../view/format.ts'
import { hourRange, usageChart } from './usage-chart.ts'
import { peopleLayout } from './usage-csv.ts'
import { MEASURES, periodOf, readUsageQuery, rowFilter, type UsageQuery } from './usage-query.ts'
import { reasonText } from './usage-reason.ts'

export const USAGE_PAGES: readonly Page[] = [
  { method: 'GET', path: '/usage', authentication: 'session', purpose: 'Totals, chart, calls', handle: show },
  { method: 'GET', path: '/usage.csv', authentication: 'session', purpose: 'The calls as CSV', handle: exportCsv },
]

const PERIODS_DAYS = [1, 7, 30, 90] as const
/** Maximum number of tags to choose from: those with calls in most hours. A URL may filter by any other tag. */
const TAGS_MAX = 100

/** The name of a key, with its last characters if another key has the same name. */
export function keyLabel(keys: readonly KeyName[], keyId: number): string {
  const key = keys.find(candidate => candidate.keyId === keyId)
  if (key === undefined) return `#${keyId}`
  const { label, last4 } = key
  if (label === '') return `…${last4}`
  const hasNamesake = keys.some(other => other.label === label && other.keyId !== keyId)
  return hasNamesake ? `${label} (…${last4})` : label
}

function queryOf({ query, now, options }: PageRequest): UsageQuery {
  return readUsageQuery(query, { now, daysMax: options.limits.usageDaysMax })
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, query, now } = request
  const { sql, limits } = options
  const { accountId } = signedIn(request)
  const asked = queryOf(request)
  const { per, by, hour } = asked
  const filter = rowFilter(asked)
  const period = { accountId, ...periodOf(asked) }
  const page = { limit: limits.tableRows, ...(asked.beforeSeq !== null && { beforeSeq: asked.beforeSeq }) }
  const [keys, figures, choices, { rows, nextBeforeSeq }] = await Promise.all([
    listKeyNames(sql, accountId),
    readHourly(sql, { ...period, filter, per, by }),
    readChoices(sql, period),
    readUsageRows(sql, { accountId, filter, ...page }),
  ])
  const labelOf = (series: string): string => {
    if (by === 'key') return keyLabel(keys, Number(series))
    return series || text(language, by === 'tag' ? 'usage.tag.none' : 'usage.model.none')
  }
  const ofHour = hour === null ? figures : figures.filter(({ at }) => Number(at.slice(-2)) === hour)
  const totals = addHourly(ofHour)
  const rowCount = await countUsage(sql, { accountId, filter, calls: totals.calls })
  const today = dayOf(now)
  return {
    kind: 'page',
    template: 'usage',
    title: text(language, 'usage.title'),
    section: 'usage',
    scripts: ['export.js'],
    data: {
      asked,
      today,
      periods: PERIODS_DAYS.map(days => ({
        label: days === 1 ? text(language, 'usage.period.today') : text(language, 'usage.period.days', { days }),
        query: query.with({ from: addDays(today, 1 - days), to: today, before: null, hour: null, per: null }),
        isChosen: asked.to === today && asked.from === addDays(today, 1 - days),
      })),
      keys: keyOptions(keys, asked.keyId),
      models: optionsOf(choices.entryIds.filter(Boolean).toSorted(), asked.entryId),
      tags: optionsOf(choices.tags.slice(0, TAGS_MAX).toSorted(), asked.tag),
      statuses: statusOptions(request, choices.statuses, asked.status),
      splits: choicesOf('by', SPLITS, by),
      measures: choicesOf('measure', MEASURES, asked.measure),
      steps: choicesOf('per', ['day', 'hour'], per),
      isHourly: per === 'hour',
      correction: correctionOf(request, asked),
      unsummed: unsummedOf(request, asked),
      hour: hour === null ? null : `${calendarDay(asked.from)} ${hourRange(hour)}`,
      wholeDay: `/usage${query.with({ hour: null, before: null })}`,
      totals,
      chart: usageChart(request, asked, figures, labelOf),
      rows: rows.map(row => rowView(request, row, keys)),
      rowCount,
      csv: `/usage.csv${query.with({ before: null })}`,
      rawCsv: `/usage.csv${query.with({ before: null, format: 'raw' })}`,
      more: nextBeforeSeq === null ? null : `/usage${query.with({ before: String(nextBeforeSeq) })}`,
      isLater: asked.beforeSeq !== null,
      isPaged: nextBeforeSeq !== null || asked.beforeSeq !== null,
      // A page may be empty although more rows follow.
      isNothing: rows.length === 0 && nextBeforeSeq === null,
      first: `/usage${query.with({ before: null })}`,
    },
  }
}

/** Says which days the figures are of if the form, which a script does not load again, shows others; or null. */
function correctionOf({ language, query, options }: PageRequest, { from, to }: UsageQuery): string | null {
  const isAs = (name: string, day: string) => ['', day].includes(query.text(name))
  if (isAs('from', from) && isAs('to', to)) return null
  const days = options.limits.usageDaysMax
  return text(language, 'usage.period.shown', { from: calendarDay(from), to: calendarDay(to), days })
}

/** Says since when there are totals, if the period begins before that; or null. */
function unsummedOf({ language, now }: PageRequest, { from }: UsageQuery): string | null {
  const first = firstSummedDay(now)
  return from < first ? text(language, 'usage.totals.since', { from: calendarDay(first) }) : null
}

/** Returns a filter's options, always including the chosen value. */
function optionsOf(values: readonly string[], chosen: string | undefined) {
  const all = chosen === undefined || values.includes(chosen) ? values : [...values, chosen]
  return all.map(value => ({ value, isChosen: value === chosen }))
}

/** The keys to choose from. The chosen one may be too old to be in the list. */
function keyOptions(keys: readonly KeyName[], chosen: number | undefined) {
  const ids = keys.map(({ keyId }) => keyId)
  const all = chosen === undefined || ids.includes(chosen) ? ids : [...ids, chosen]
  return all.map(keyId => ({ keyId, label: keyLabel(keys, keyId), isChosen: keyId === chosen }))
}

function statusOptions({ language }: PageRequest, found: readonly number[], chosen: UsageQuery['status']) {
  const failures = found.filter(status => status >= 400)
  const numbers = typeof chosen === 'number' && !failures.includes(chosen) ? [...failures, chosen] : failures
  const kinds = (['ok', 'error'] as const).map(kind => ({ value: kind, label: text(language, `usage.status.${kind}`) }))
  const single = numbers.toSorted((one, other) => one - other).map(status => ({ value: status, label: String(status) }))
  return [...kinds, ...single].map(option => ({ ...option, isChosen: option.value === chosen }))
}

function choicesOf(name: 'by' | 'measure' | 'per', values: readonly string[], chosen: string) {
  return values.map(value => ({ value, key: `usage.${name}.${value}`, isChosen: value === chosen }))
}

/** Returns a call as a table row. `folder`: base path of the link to the call's page. */
export function rowView({ language }: PageRequest, row: UsageRow, keys: readonly KeyName[], folder = '/usage') {
  return {
    href: `${folder}/${row.callId}`,
    closedAt: row.closedAt,
    key: keyLabel(keys, row.keyId),
    tag: row.tag,
    model: row.entryId,
    requestedName: row.requestedName,
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    charged: row.chargedMicroVnd,
    firstByteMs: row.firstByteMs,
    latencyMs: row.latencyMs,
    status: row.status,
    tone: toneOf(row.status),
    reason: reasonText(language, row),
    isEstimated: row.estimated,
  }
}

export function toneOf(status: number): '' | 'good' | 'warn' | 'bad' {
  if (status < 400) return 'good'
  if (status === 499) return ''
  return status < 500 ? 'warn' : 'bad'
}

async function exportCsv(request: PageRequest): Promise<Answer> {
  const { options, query, now } = request
  const { accountId } = signedIn(request)
  const filter = rowFilter(queryOf(request))
  const keys = await listKeyNames(options.sql, accountId)
  const keyLabels = new Map(keys.map(({ keyId }) => [keyId, keyLabel(keys, keyId)]))
  const rows = await countUsage(options.sql, { accountId, filter })
  const isRaw = query.choice('format', ['raw']) === 'raw'
  const chunks = isRaw
    ? exportUsageCsv(options.sql, { accountId, filter, keyLabels })
    : exportForPeople(options.sql, { accountId, filter, layout: peopleLayout(request, keyLabels) })
  return csvAnswer(request, { chunks, fileName: `usage-${dayOf(now)}.csv`, headers: { 'x-rows': String(rows) } })
}
