/** The business page: revenue, cost and margin by day, model, upstream, customer or channel; loss-making entries; receipts. */

import { findEmails } from '../../accounts/accounts.ts'
import type { Channel } from '../../generated/types.ts'
import {
  addFigures,
  type BusinessFigure,
  costUnknownCalls,
  type ModelDay,
  marginOf,
  readBusiness,
  readModelDays,
  sumBy,
  sumByDay,
} from '../../ledger/reports/business.ts'
import { textCell } from '../../ledger/reports/csv.ts'
import { addDays, dayOf } from '../../ledger/reports/days.ts'
import { readIncome } from '../../ledger/reports/operators.ts'
import { type BusinessTop, readTopCustomers } from '../../ledger/reports/top-customers.ts'
import type { Day, DayRange } from '../../ledger/reports/types.ts'
import { formatVnd, type MicroVnd, microVnd } from '../../lib/money.ts'
import { csvAnswer } from '../csv.ts'
import { chartOf, daySlots, dongOf } from '../money/chart.ts'
import { readUsageQuery } from '../money/usage-query.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { day as calendarDay, count } from '../view/format.ts'
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

function rangeOf({ from, to }: Asked): DayRange {
  return { from, to: addDays(to, 1) }
}

async function figuresOf(request: PageRequest, asked: Asked): Promise<readonly BusinessFigure[]> {
  const { sql } = request.options
  const { by } = asked
  if (by === 'customer' || by === 'upstream') return readBusiness(sql, { ...rangeOf(asked), by })
  return splitModels(request, by, await readModelDays(sql, rangeOf(asked)))
}

/** Figures by channel use the channel that an entry has today. An entry that no longer exists has no channel. */
function splitModels(
  { options }: PageRequest,
  by: 'day' | 'model' | 'channel',
  models: readonly ModelDay[],
): readonly BusinessFigure[] {
  if (by === 'day') return sumByDay(models)
  if (by === 'model') return sumBy(models, ({ series }) => series)
  const channels = new Map<string, string>(options.catalogue.items.map(({ entry }) => [entry.id, entry.channel]))
  return sumBy(models, ({ series }) => channels.get(series) ?? '')
}

interface Listed extends BusinessTop {
  /** Totals over all series, listed or not. */
  readonly total: BusinessFigure
}

async function listedOf(request: PageRequest, asked: Asked, models: Promise<readonly ModelDay[]>): Promise<Listed> {
  const { by } = asked
  if (by === 'customer') {
    const top = readTopCustomers(request.options.sql, { ...rangeOf(asked), limit: ROWS_MAX })
    const [{ figures, hasMore }, all] = await Promise.all([top, models])
    return { figures, hasMore, total: addFigures('', all) }
  }
  const figures = by === 'upstream' ? await figuresOf(request, asked) : splitModels(request, by, await models)
  return { figures: figures.slice(0, ROWS_MAX), hasMore: figures.length > ROWS_MAX, total: addFigures('', figures) }
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, query, now, language } = request
  const { sql } = options
  const asked = askedOf(request)
  const { from, to, by } = asked
  const models = readModelDays(sql, rangeOf(asked))
  const [{ figures: shown, total, hasMore }, revenue, income, judged] = await Promise.all([
    listedOf(request, asked, models),
    models,
    readIncome(sql, rangeOf(asked)),
    readJudged(request, asked, models),
  ])
  const losses = lossesOf(judged, now)
  const labels = await labelsOf(request, by, shown)
  const points = revenue.map(({ day, series, revenueMicroVnd }) => ({
    at: day,
    series,
    value: dongOf(revenueMicroVnd),
  }))
  const chart = chartOf(points, {
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
    splitKey: by === 'channel' ? 'models.channel' : `operator.business.${by}`,
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

/** Figures of the days that are checked for entries that lose money, or of more days: `models` if they include those days. */
async function readJudged(
  { options, now }: PageRequest,
  { from, to }: Asked,
  models: Promise<readonly ModelDay[]>,
): Promise<readonly ModelDay[]> {
  const today = dayOf(now)
  const first = firstJudged(now)
  return from <= first && to >= today ? models : readModelDays(options.sql, { from: first, to: addDays(today, 1) })
}

function firstJudged(now: Date): Day {
  return addDays(dayOf(now), 1 - JUDGED_DAYS)
}

/** Entries whose calls of the last JUDGED_DAYS days cost more than they earned, the largest loss first. */
export function lossesOf(models: readonly ModelDay[], now: Date): readonly BusinessFigure[] {
  const first = firstJudged(now)
  const judged = models.filter(({ day }) => day >= first)
  return sumBy(judged, ({ series }) => series)
    .filter(figure => (marginOf(figure) ?? 0n) < 0n)
    .toSorted((one, other) => ((marginOf(one) ?? 0n) < (marginOf(other) ?? 0n) ? -1 : 1))
}

function rowOf(figure: BusinessFigure) {
  const margin = marginOf(figure)
  const unknown = costUnknownCalls(figure)
  return {
    ...figure,
    hasCost: margin !== null,
    margin: margin ?? microVnd(0n),
    isLoss: margin !== null && margin < 0n,
    marginShare: margin === null || figure.revenueMicroVnd === 0n ? null : share(margin, figure.revenueMicroVnd),
    // Shown because the margin looks too high if some costs are unknown.
    unknownCalls: unknown === 0 ? null : count(unknown),
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
    if (by === 'channel') return { label: text(language, `models.channel.${series as Channel}`), href: null }
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
