/** Orders of all accounts, revenue by day and model, and unknown model names. */

import { addDays } from '../../ledger/reports/days.ts'
import { exportOperatorsCsv } from '../../ledger/reports/operators-csv.ts'
import { readUnknownModels } from '../../operations/unknown-models.ts'
import { isOrderCode } from '../../payments/order-code.ts'
import { listAllOrders } from '../../payments/orders.ts'
import { csvAnswer } from '../csv.ts'
import { orderView } from '../money/top-up.ts'
import { readUsageQuery } from '../money/usage-query.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { callsAsked, operatorPage } from './frame.ts'

export const OPERATOR_LIST_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/orders',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Orders',
    handle: orders,
  },
  {
    method: 'GET',
    path: '/operator/revenue',
    authentication: 'operator',
    needs: 'business',
    purpose: 'Leads to the business page',
    handle: revenue,
  },
  {
    method: 'GET',
    path: '/operator/models',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Names of models that mean nothing',
    handle: unknownModels,
  },
  {
    method: 'GET',
    path: '/operator/usage.csv',
    authentication: 'operator',
    needs: 'business',
    purpose: 'The calls of all accounts as CSV, with what they cost the operator',
    handle: usageCsv,
  },
]

const STATES = ['open', 'paid', 'cancelled', 'expired'] as const
const PERIODS_DAYS = [7, 30, 90] as const

async function orders(request: PageRequest): Promise<Answer> {
  const { options, query } = request
  const q = query.text('q', 254)
  const state = query.choice('state', STATES)
  const beforeCode = query.text('before')
  const limit = options.limits.tableRows
  const found = await listAllOrders(options.payments, {
    ...(q !== '' && { text: q }),
    ...(state !== null && { state }),
    ...(isOrderCode(beforeCode) && { beforeCode }),
    limit,
  })
  const last = found.at(-1)
  return operatorPage(request, 'operator-orders', 'orders', {
    q,
    states: STATES.map(each => ({ value: each, key: `topup.state.${each}`, isChosen: each === state })),
    orders: found.map(orderView),
    more: found.length === limit && last ? `/operator/orders${query.with({ before: last.orderCode })}` : null,
  })
}

async function usageCsv(request: PageRequest): Promise<Answer> {
  const { options, query, now } = request
  const { from, to } = readUsageQuery(query, { now, daysMax: options.limits.usageDaysMax })
  const chunks = exportOperatorsCsv(options.sql, { from, to: addDays(to, 1) })
  return csvAnswer(request, { chunks, fileName: `calls-${from}-${to}.csv` })
}

/** Revenue has moved to the business page; the redirect keeps bookmarks working. */
function revenue({ query }: PageRequest): Answer {
  return { kind: 'redirect', to: `/operator/business${query.with({})}` }
}

/** Marks names that the catalogue now knows, because an alias was added after the calls. */
async function unknownModels(request: PageRequest): Promise<Answer> {
  const { options, query } = request
  const chosen = PERIODS_DAYS.find(days => String(days) === query.text('days')) ?? PERIODS_DAYS[0]
  const found = await readUnknownModels(options.sql, { days: chosen, limit: options.limits.tableRows })
  return operatorPage(request, 'operator-models', 'models', {
    periods: PERIODS_DAYS.map(days => ({ days, isChosen: days === chosen })),
    fallback: options.catalogue.settings.fallback,
    names: found.map(each => ({
      ...each,
      href: callsAsked(each.name),
      knownAs: options.catalogue.resolve(each.name)?.entry.id ?? null,
    })),
  })
}
