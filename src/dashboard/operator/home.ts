/** The operators' home page: what needs attention, revenue and costs, the maintenance switch and the audit. */

import { recordAction } from '../../accounts/operator-log.ts'
import { mayDo } from '../../accounts/roles.ts'
import { audit } from '../../audit/audit.ts'
import { readLastAudit } from '../../audit/last.ts'
import {
  addFigures,
  type BusinessFigure,
  knownCostOf,
  type ModelDay,
  marginOf,
  readModelDays,
  readUntil,
  sumByDay,
} from '../../ledger/reports/business.ts'
import { addDays, dayOf, startOfDay } from '../../ledger/reports/days.ts'
import { type Arrivals, readArrivals, readOpenHolds } from '../../ledger/reports/desk.ts'
import type { MicroVnd } from '../../lib/money.ts'
import { readMaintenance, setMaintenance } from '../../operations/maintenance.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { compactCount, count, dongShort } from '../view/format.ts'
import { readAttention } from './attention.ts'
import { showsCosts } from './calls.ts'
import { actorOf, operatorPage } from './frame.ts'

export const HOME_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator',
    authentication: 'operator',
    needs: 'read',
    purpose: 'State of the service',
    handle: home,
  },
  {
    method: 'POST',
    path: '/operator/maintenance',
    authentication: 'operator',
    needs: 'operations',
    purpose: 'Turns it on or off',
    handle: maintain,
  },
  {
    method: 'POST',
    path: '/operator/audit',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Recomputes the ledger',
    handle: runAudit,
  },
]

const AUDIT_TIMEOUT_MS = 300_000
const MONTH_DAYS = 30
const WEEK_MS = 7 * 86_400_000

async function home(request: PageRequest): Promise<Answer> {
  const { options, session, now } = request
  const { sql, catalogue } = options
  const today = dayOf(now)
  const models = readModelDays(sql, { from: addDays(today, 1 - MONTH_DAYS), to: addDays(today, 1) })
  const [attention, figures, holds, maintenance, lastAudit] = await Promise.all([
    readAttention(request, models),
    readPeriods(request, models),
    readOpenHolds(sql),
    readMaintenance(sql),
    readLastAudit(sql),
  ])
  return operatorPage(request, 'operator-home', 'home', {
    attention,
    cards: cardsOf(request, figures),
    weekday: weekdayOf(request, now),
    holds,
    maintenance,
    lastAudit,
    isAuditClean: lastAudit !== null && Object.keys(lastAudit.broken).length === 0,
    entries: catalogue.items.length,
    digest: catalogue.settings.digest,
    mayOperate: mayDo(session?.role ?? null, 'operations'),
  })
}

interface Period {
  readonly calls: BusinessFigure
  readonly arrivals: Arrivals
}

interface Periods {
  readonly today: Period
  /** The same weekday a week before, up to the same time of day; null if there are no hourly figures for its calls. */
  readonly before: Period | null
  readonly month: Period
}

/** `models`: figures of the last MONTH_DAYS days. */
async function readPeriods({ options, now }: PageRequest, models: Promise<readonly ModelDay[]>): Promise<Periods> {
  const { sql } = options
  const today = dayOf(now)
  const start = startOfDay(today)
  const firstOfMonth = addDays(today, 1 - MONTH_DAYS)
  const weekBefore = { since: new Date(start.getTime() - WEEK_MS), until: new Date(now.getTime() - WEEK_MS) }
  const [days, before, arrivedToday, arrivedBefore, arrivedMonth] = await Promise.all([
    models.then(sumByDay),
    readUntil(sql, weekBefore),
    readArrivals(sql, { from: start, to: now }),
    readArrivals(sql, { from: weekBefore.since, to: weekBefore.until }),
    readArrivals(sql, { from: startOfDay(firstOfMonth), to: now }),
  ])
  const ofToday = days.filter(({ series }) => series === today)
  const hadCalls = days.some(({ series }) => series === addDays(today, -7))
  return {
    today: { calls: addFigures('', ofToday), arrivals: arrivedToday },
    // A day with calls but without hourly figures is from before the hourly roll-up existed.
    before: hadCalls && before.calls === 0 ? null : { calls: before, arrivals: arrivedBefore },
    month: { calls: addFigures('', days), arrivals: arrivedMonth },
  }
}

interface Card {
  readonly key: TextKey
  readonly today: string
  readonly note: string | null
  readonly before: string | null
  readonly month: string
  readonly isLoss: boolean
}

type Measure = (period: Period) => string

function cardsOf(request: PageRequest, { today, before, month }: Periods): readonly Card[] {
  const { language } = request
  const card = (name: string, measure: Measure, extra: Partial<Card> = {}): Card => ({
    key: `operator.home.${name}` as TextKey,
    today: measure(today),
    note: null,
    before: before === null ? null : measure(before),
    month: measure(month),
    isLoss: false,
    ...extra,
  })
  const ifKnown = (amount: MicroVnd | null) => (amount === null ? '–' : dongShort(amount))
  const money = [
    card('revenue', ({ calls }) => dongShort(calls.revenueMicroVnd)),
    card('cost', ({ calls }) => ifKnown(knownCostOf(calls))),
    card('margin', ({ calls }) => ifKnown(marginOf(calls)), { isLoss: (marginOf(today.calls) ?? 0n) < 0n }),
    card('money_in', ({ arrivals }) => dongShort(arrivals.moneyInMicroVnd)),
  ]
  const { errors } = today.calls
  return [
    ...(showsCosts(request) ? money : []),
    card('calls', ({ calls }) => count(calls.calls)),
    card('errors', ({ calls }) => count(calls.errors), {
      note: errors === 0 ? null : text(language, 'operator.home.errors.share', { share: shareOf(today.calls) }),
    }),
    card('tokens', ({ calls }) => compactCount(calls.inputTokens + calls.outputTokens)),
    card('customers', ({ arrivals }) => count(arrivals.accounts)),
  ]
}

function shareOf({ calls, errors }: BusinessFigure): string {
  return `${((errors * 100) / Math.max(1, calls)).toFixed(1).replace('.', ',')}\u00a0%`
}

function weekdayOf({ language }: PageRequest, now: Date): string {
  const weekday = new Date(`${dayOf(now)}T00:00:00Z`).getUTCDay()
  return text(language, `operator.weekday.${weekday}` as TextKey)
}

async function maintain(request: PageRequest): Promise<Answer> {
  const { options, form } = request
  const enabled = form.choice('state', ['on', 'off']) === 'on'
  await setMaintenance(options.sql, { enabled, retryAfterSeconds: null })
  const action = enabled ? 'maintenance.on' : 'maintenance.off'
  await recordAction(options.sql, { by: actorOf(request), action })
  return { kind: 'redirect', to: '/operator' }
}

async function runAudit(request: PageRequest): Promise<Answer> {
  const mode = request.form.text('mode') === 'full' ? 'full' : 'incremental'
  const report = await audit(request.options.sql, { mode, timeoutMs: AUDIT_TIMEOUT_MS })
  const { transfers, orders, creditDays } = report.payments
  return operatorPage(request, 'operator-audit', 'home', {
    report,
    isFull: report.mode === 'full',
    rules: Object.entries(report.differences).map(([rule, found]) => ({ rule, found })),
    transfers: transfers.join(', '),
    orders: orders.join(', '),
    days: [...new Set([...report.days.usageDays, ...creditDays])].sort().join(', '),
  })
}
