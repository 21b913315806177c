/** The first page after signing in: how much is left, how fast it is being spent, and what happened last. */

import { listChargedKeys } from '../../accounts/own-keys.ts'
import { DAYS_LEFT_MAX, readBalance } from '../../ledger/reports/balance.ts'
import { readDaily, readTotals } from '../../ledger/reports/daily.ts'
import { addDays, dayOf } from '../../ledger/reports/days.ts'
import { readCredits } from '../../ledger/reports/journal.ts'
import { readUsageRows } from '../../ledger/reports/rows.ts'
import { ZERO_MICRO_VND } from '../../lib/money.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { count, dong } from '../view/format.ts'
import { chargesByDay, chartOf, daySlots } from './chart.ts'
import { rowView } from './usage.ts'

export const OVERVIEW: Page = {
  method: 'GET',
  path: '/overview',
  authentication: 'session',
  purpose: 'Balance, pace, latest calls',
  handle: show,
}

const ROWS = 6
const DAYS = 30

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, now } = request
  const { sql } = options
  const { accountId } = signedIn(request)
  const today = dayOf(now)
  const [from, to] = [addDays(today, 1 - DAYS), addDays(today, 1)]
  const [balance, keys, ofToday, ofDays, daily, { rows }, credits] = await Promise.all([
    readBalance(sql, accountId),
    listChargedKeys(sql, accountId),
    readTotals(sql, { accountId, from: today, to }),
    readTotals(sql, { accountId, from, to }),
    readDaily(sql, { accountId, from, to, by: 'model' }),
    readUsageRows(sql, { accountId, filter: {}, limit: ROWS }),
    readCredits(sql, { accountId, limit: 1 }),
  ])
  const left = balance?.balanceMicroVnd ?? ZERO_MICRO_VND
  const steps = {
    hasToppedUp: credits.length > 0,
    hasKey: keys.some(key => key.revokedAt === null && !key.isPlayground),
    hasCalled: rows.length > 0,
  }
  return {
    kind: 'page',
    template: 'overview',
    title: text(language, 'overview.title'),
    section: 'overview',
    data: {
      balance: left,
      held: balance?.heldMicroVnd ?? ZERO_MICRO_VND,
      isSpent: left === 0n && steps.hasToppedUp,
      pace: paceText(request, balance?.daysLeft ?? null),
      ofToday,
      ofDays,
      chart: chartOf(chargesByDay(daily), {
        titleKey: 'usage.chart.cost.day',
        slotKey: 'usage.day',
        slots: daySlots({ from, to: today }, day => `/usage?from=${day}&to=${day}#calls`),
        unit: '₫',
        labelOf: series => series || text(language, 'usage.model.none'),
        other: text(language, 'usage.other'),
      }),
      rows: rows.map(row => rowView(request, row, keys)),
      isNew: !(steps.hasToppedUp && steps.hasKey && steps.hasCalled),
      ...steps,
      minimum: dong(options.payments.limits.orderVndMin),
    },
  }
}

function paceText({ language }: PageRequest, daysLeft: number | null): string {
  if (daysLeft === null) return text(language, 'overview.no_use')
  if (daysLeft < 1) return text(language, 'overview.day_left')
  if (daysLeft > DAYS_LEFT_MAX) return text(language, 'overview.year_left')
  return text(language, 'overview.days_left', { days: count(Math.floor(daysLeft)) })
}
