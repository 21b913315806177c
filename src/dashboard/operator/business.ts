/** The business page: revenue, cost and margin by day, model, upstream, customer or channel; loss-making entries; receipts. */

import { findEmails } from '../../accounts/accounts.ts'
import {
  addFigures,
  type BusinessFigure,
  costKnownShare,
  marginOf,
  readBusiness,
} from '../../ledger/reports/business.ts'
import { textCell } from '../../ledger/reports/csv.ts'
import { addDays, dayOf } from '../../ledger/reports/days.ts'
import { readIncome, readRevenue } from '../../ledger/reports/operators.ts'
import { type BusinessTop, readTopCustomers } from '../../ledger/reports/top-customers.ts'
import { formatVnd, type MicroVnd, microVnd } from '../../lib/money.ts'
import { csvAnswer } from '../csv.ts'
import { chargesByDay, chartOf, daySlots } from '../money/chart.ts'
import { readUsageQuery } from '../money/usage-query.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { day as calendarDay, percent } from '../view/format.ts'
import { operatorPage } from './frame.ts'

export const BUSINESS_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/business',
    authentication: 'operator',
    needs: 'business',
    purpose: 'Revenue, cost and margin',
    handle: show,
  },
  {
    method: 'GET',
    path: '/operator/business.csv',
    authentication: 'operator',
    needs: 'business',
    purpose: 'The same as CSV',
    handle: exportCsv,
  },
]

const SPLITS = ['day', 'model', 'upstream', 'customer', 'channel'] as const
type Split = (typeof SPLITS)[number]
const PERIODS_DAYS = [7, 30, 90] as const
const ROWS_MAX = 100
/** Number of days, today included, whose calls are checked for entries that lose money. */
export const JUDGED_DAYS = 7

interface Asked {
  readonly from: string
  readonly to: string
  readonly by: Split
}

function askedOf({ query, now, options }: PageRequest): Asked {
  const { from, to } = readUsageQuery(query, { now, daysMax: options.limits.usageDaysMax })
  return { from, to, by: query.choice('by', SPLITS) ?? 'day' }
}

/** Figures by channel use the channel that an entry has today. An entry that no longer exists has no channel. */
async function figuresOf(request: PageRequest, { from, to, by }: Asked): Promise<readonly BusinessFigure[]> {
  const { sql, catalogue } = request.options
  const range = { from, to: addDays(to, 1) }
  if (by !== 'channel') return readBusiness(sql, { ...range, by })
  const channels = new Map<string, string>(catalogue.items.map(({ entry }) => [entry.id, entry.channel]))
  const models = await readBusiness(sql, { ...range, by: 'model' })
  const grouped = Map.groupBy(models, ({ series }) => channels.get(series) ?? '')
  return [...grouped].map(([channel, figures]) => addFigures(channel, figures))
}

async function topOf(request: PageRequest, asked: Asked): Promise<BusinessTop> {
  const range = { from: asked.from, to: addDays(asked.to, 1) }
  if (asked.by === 'customer') return readTopCustomers(request.options.sql, { ...range, limit: ROWS_MAX })
  const figures = await figuresOf(request, asked)
  return { figures: figures.slice(0, ROWS_MAX), total: addFigures('', figures), hasMore: figures.length > ROWS_MAX }
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, query, now, language } = request
  const { sql } = options
  const asked = askedOf(request)
  const { from, to, by } = asked
  const range = { from, to: addDays(to, 1) }
  const [{ figures: shown, total, hasMore }, revenue, income, losses] = await Promise.all([
    topOf(request, asked),
    readRevenue(sql, range),
    readIncome(sql, range),
    readLosses(request),
  ])
  const labels = await labelsOf(request, by, shown)
  const chart = chartOf(chargesByDay(revenue), {
    titleKey: 'operator.revenue.chart',
    slotKey: 'usage.day',
    slots: daySlots({ from, to }, day => `/operator/calls?from=${day}&to=${day}`),
    unit: '₫',
    labelOf: series => series || text(language, 'usage.model.none'),
    other: text(language, 'usage.other'),
  })
  const today = dayOf(now)
  return operatorPage(request, 'operator-business', 'business', {
    asked,
    today,
    periods: PERIODS_DAYS.map(days => ({
      days,
      path: `/operator/business${query.with({ from: addDays(today, 1 - days), to: today })}`,
      isChosen: to === today && from === addDays(today, 1 - days),
    })),
    splits: SPLITS.map(each => ({
      path: `/operator/business${query.with({ by: each })}`,
      key: `operator.business.by.${each}`,
      isChosen: each === by,
    })),
    splitKey: `operator.business.${by}`,
    isLive: by !== 'upstream',
    total: rowOf(total),
    rows: shown.map(figure => ({ ...rowOf(figure), ...labels(figure.series) })),
    hasMore,
    csv: `/operator/business.csv${query.with({})}`,
    losses: losses.map(figure => ({ ...rowOf(figure), label: figure.series })),
    judgedDays: JUDGED_DAYS,
    income: income.map(row => ({ ...row, kindKey: `topup.kind.${row.kind}` })),
    calls: `/operator/usage.csv?from=${from}&to=${to}`,
    receipts: `/operator/receipts.csv?from=${from}&to=${to}`,
    chart,
  })
}

/** Entries whose calls of the last JUDGED_DAYS days cost more than they earned, the largest loss first. */
export async function readLosses({ options, now }: PageRequest): Promise<readonly BusinessFigure[]> {
  const today = dayOf(now)
  const range = { from: addDays(today, 1 - JUDGED_DAYS), to: addDays(today, 1) }
  const figures = await readBusiness(options.sql, { ...range, by: 'model' })
  return figures
    .filter(figure => (marginOf(figure) ?? 0n) < 0n)
    .toSorted((one, other) => ((marginOf(one) ?? 0n) < (marginOf(other) ?? 0n) ? -1 : 1))
}

function rowOf(figure: BusinessFigure) {
  const margin = marginOf(figure)
  const known = costKnownShare(figure)
  return {
    ...figure,
    hasCost: margin !== null,
    margin: margin ?? microVnd(0n),
    isLoss: margin !== null && margin < 0n,
    marginShare: margin === null || figure.revenueMicroVnd === 0n ? null : share(margin, figure.revenueMicroVnd),
    // Share of calls whose cost is known. It is shown because the margin looks too high if some costs are unknown.
    knownShare: known < 0.995 ? percent(known) : null,
  }
}

function share(part: MicroVnd, whole: MicroVnd): string {
  const tenths = (part * 1_000n) / whole
  const [sign, size] = tenths < 0n ? ['-', -tenths] : ['', tenths]
  return `${sign}${size / 10n},${size % 10n}\u00a0%`
}

interface Label {
  readonly label: string
  readonly href: string | null
}

async function labelsOf(
  { options, language }: PageRequest,
  by: Split,
  figures: readonly BusinessFigure[],
): Promise<(series: string) => Label> {
  const none = { label: text(language, 'operator.business.none'), href: null }
  if (by === 'customer') {
    const emails = await findEmails(
      options.sql,
      figures.map(({ series }) => Number(series)),
    )
    return series => ({ label: emails.get(Number(series)) ?? `#${series}`, href: `/operator/accounts/${series}` })
  }
  return series => {
    if (series === '') return none
    if (by === 'day') return { label: calendarDay(series), href: null }
    if (by === 'channel') return { label: series, href: null }
    const id = encodeURIComponent(series)
    return { label: series, href: by === 'upstream' ? `/operator/upstreams/${id}` : `/operator/calls?model=${id}` }
  }
}

async function exportCsv(request: PageRequest): Promise<Answer> {
  const asked = askedOf(request)
  const figures = await figuresOf(request, asked)
  const emails =
    asked.by === 'customer'
      ? await findEmails(
          request.options.sql,
          figures.map(({ series }) => Number(series)),
        )
      : new Map<number, string>()
  const chunks = csvOf(asked.by, figures, emails)
  return csvAnswer(request, { chunks, fileName: `business-${asked.by}-${asked.from}-${asked.to}.csv` })
}

async function* csvOf(
  by: Split,
  figures: readonly BusinessFigure[],
  emails: ReadonlyMap<number, string>,
): AsyncGenerator<string> {
  const names = by === 'customer' ? 'account_id,email' : by
  yield `${names},calls,errors,input_tokens,output_tokens,revenue_vnd,cost_vnd,cost_known_calls,margin_vnd\r\n`
  for (const figure of figures) {
    const name = textCell(figure.series)
    const label = by === 'customer' ? `${name},${textCell(emails.get(Number(figure.series)) ?? '')}` : name
    const counts = [figure.calls, figure.errors, figure.inputTokens, figure.outputTokens]
    const margin = marginOf(figure)
    const money = [formatVnd(figure.revenueMicroVnd), formatVnd(figure.costMicroVnd), figure.costKnownCalls]
    yield `${[label, ...counts, ...money, margin === null ? '' : formatVnd(margin)].join(',')}\r\n`
  }
}
