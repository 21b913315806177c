/** Usage: totals, a chart by day, every call as a row, and all of it as CSV. */

import { listChargedKeys, type OwnKey } from '../../accounts/own-keys.ts'
import { countUsage, exportUsageCsv } from '../../ledger/reports/csv.ts'
import { readDaily, readTotals } from '../../ledger/reports/daily.ts'
import { addDays, dayOf } from '../../ledger/reports/days.ts'
import { readUsageRows } from '../../ledger/reports/rows.ts'
import type { UsageRow } from '../../ledger/reports/types.ts'
import { csvAnswer } from '../csv.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { chartOf } from './chart.ts'
import { dailyRange, readUsageQuery, rowFilter, type UsageQuery } from './usage-query.ts'

export const USAGE_PAGES: readonly Page[] = [
  { method: 'GET', path: '/usage', authentication: 'session', purpose: 'Totals, chart, calls', handle: show },
  { method: 'GET', path: '/usage.csv', authentication: 'session', purpose: 'The calls as CSV', handle: exportCsv },
]

const PERIODS_DAYS = [7, 30, 90] as const

export function keyLabel(keys: readonly OwnKey[], keyId: number): string {
  const key = keys.find(candidate => candidate.keyId === keyId)
  if (key === undefined) return `#${keyId}`
  return key.label === '' ? `…${key.last4}` : key.label
}

function queryOf({ query, now, options }: PageRequest): UsageQuery {
  return readUsageQuery(query, { now, daysMax: options.limits.usageDaysMax })
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, query, now } = request
  const { sql, limits } = options
  const { accountId } = signedIn(request)
  const asked = queryOf(request)
  const range = { accountId, ...dailyRange(asked) }
  const filter = rowFilter(asked)
  const page = { limit: limits.tableRows, ...(asked.beforeSeq !== null && { beforeSeq: asked.beforeSeq }) }
  const [keys, daily, byModel, totals, { rows, nextBeforeSeq }, rowCount] = await Promise.all([
    listChargedKeys(sql, accountId),
    readDaily(sql, { ...range, by: asked.by }),
    readDaily(sql, { accountId, from: range.from, to: range.to, by: 'model' }),
    readTotals(sql, range),
    readUsageRows(sql, { accountId, filter, ...page }),
    countUsage(sql, { accountId, filter }),
  ])
  const labelOf = (series: string) =>
    asked.by === 'key' ? keyLabel(keys, Number(series)) : series || text(language, 'usage.model.none')
  const models = [...new Set(byModel.map(({ series }) => series))].filter(series => series !== '').sort()
  return {
    kind: 'page',
    template: 'usage',
    title: text(language, 'usage.title'),
    section: 'usage',
    scripts: ['uplot.js', 'chart.js', 'export.js'],
    styles: ['uplot.css'],
    data: {
      asked,
      today: dayOf(now),
      periods: PERIODS_DAYS.map(days => ({
        days,
        query: query.with({ from: addDays(dayOf(now), 1 - days), to: dayOf(now), before: null }),
        isChosen: asked.to === dayOf(now) && asked.from === addDays(dayOf(now), 1 - days),
      })),
      keys: keys.map(({ keyId }) => ({ keyId, label: keyLabel(keys, keyId), isChosen: keyId === asked.keyId })),
      models: models.map(entryId => ({ entryId, isChosen: entryId === asked.entryId })),
      statuses: (['ok', 'error'] as const).map(value => ({
        value,
        key: `usage.status.${value}`,
        isChosen: value === asked.status,
      })),
      splits: choices('by', ['model', 'key'], asked.by),
      measures: choices('measure', ['cost', 'calls', 'tokens'], asked.measure),
      totals,
      chart: chartOf(daily, asked, { labelOf, other: text(language, 'usage.other') }),
      rows: rows.map(row => rowView(row, keys)),
      rowCount,
      csv: `/usage.csv${query.with({ before: null })}`,
      more: nextBeforeSeq === null ? null : `/usage${query.with({ before: String(nextBeforeSeq) })}`,
      isLater: asked.beforeSeq !== null,
      isPaged: nextBeforeSeq !== null || asked.beforeSeq !== null,
      // A page may be empty although more rows follow.
      isNothing: rows.length === 0 && nextBeforeSeq === null,
      first: `/usage${query.with({ before: null })}`,
    },
  }
}

function choices(name: 'by' | 'measure', values: readonly string[], chosen: string) {
  return values.map(value => ({ value, key: `usage.${name}.${value}`, isChosen: value === chosen }))
}

/** A call as a table row. */
export function rowView(row: UsageRow, keys: readonly OwnKey[]) {
  return {
    closedAt: row.closedAt,
    key: keyLabel(keys, row.keyId),
    model: row.entryId,
    requestedName: row.requestedName,
    inputTokens: row.inputTokens,
    outputTokens: row.outputTokens,
    charged: row.chargedMicroVnd,
    firstByteMs: row.firstByteMs,
    latencyMs: row.latencyMs,
    status: row.status,
    tone: row.status < 400 ? 'good' : row.status === 499 ? '' : row.status < 500 ? 'warn' : 'bad',
    isEstimated: row.estimated,
  }
}

async function exportCsv(request: PageRequest): Promise<Answer> {
  const { options, now } = request
  const { accountId } = signedIn(request)
  const filter = rowFilter(queryOf(request))
  const keys = await listChargedKeys(options.sql, accountId)
  const keyLabels = new Map(keys.map(({ keyId }) => [keyId, keyLabel(keys, keyId)]))
  const rows = await countUsage(options.sql, { accountId, filter })
  const chunks = exportUsageCsv(options.sql, { accountId, filter, keyLabels })
  return csvAnswer(request, { chunks, fileName: `usage-${dayOf(now)}.csv`, headers: { 'x-rows': String(rows) } })
}
