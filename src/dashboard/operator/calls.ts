/** The list of all customers' calls: search by request id, filters, paging and CSV export. */

import { mayDo } from '../../accounts/roles.ts'
import { dayOf } from '../../ledger/reports/days.ts'
import { findByRequestId, type OperatorCall } from '../../ledger/reports/operator-call.ts'
import { findCalls } from '../../ledger/reports/operator-calls.ts'
import { exportCallsCsv } from '../../ledger/reports/operator-calls-csv.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import { csvAnswer } from '../csv.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { FIELDS, readCallQuery } from './call-query.ts'
import { operatorPage } from './frame.ts'

export const CALL_LIST_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/calls',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Calls of everybody',
    handle: list,
  },
  {
    method: 'GET',
    path: '/operator/calls.csv',
    authentication: 'operator',
    needs: 'read',
    purpose: 'The same calls as CSV',
    handle: exportCsv,
  },
]

const REQUEST_ID_CHARACTERS_MAX = 128
const STATUSES = ['ok', 'error', '400', '401', '402', '403', '429', '499', '500', '502', '503'] as const

async function list(request: PageRequest): Promise<Answer> {
  const { options, query, language } = request
  const requestId = query.text('request', REQUEST_ID_CHARACTERS_MAX)
  const limit = options.limits.tableRows
  const asked = await readCallQuery(request)
  const found = requestId === '' ? null : await findByRequestId(options.sql, { requestId, limit })
  if (found?.length === 1) return { kind: 'redirect', to: `/operator/calls/${found[0]?.callId}` }
  const before = query.text('before')
  const page =
    found === null && asked.filter !== null
      ? await findCalls(options.sql, { filter: asked.filter, limit, ...(before !== '' && { before }) })
      : { calls: found ?? [], next: null, lookedBackTo: null }
  const base = query.with({ before: null, done: null })
  const answer = operatorPage(
    request,
    'operator-calls',
    'calls',
    {
      requestId,
      isUnknown: found?.length === 0,
      fields: Object.fromEntries(
        FIELDS.map(name => {
          const fault = asked.faults[name]
          return [name, { value: asked.given[name], fault: fault === undefined ? null : text(language, fault) }]
        }),
      ),
      entries: options.catalogue.items.map(({ entry }) => entry.id),
      upstreams: options.upstreams().map(({ id }) => ({ id, isChosen: id === asked.given.upstream })),
      statuses: statusChoices(asked.given.status).map(value => ({
        value,
        label: value === 'ok' || value === 'error' ? text(language, `usage.status.${value}`) : value,
        isChosen: value === asked.given.status,
      })),
      rows: page.calls.map(callView),
      csv: `/operator/calls.csv${base}`,
      more: page.next === null ? null : `/operator/calls${query.with({ before: page.next })}`,
      first: before === '' ? null : `/operator/calls${base}`,
      // If few calls match the filter, the search stops after a number of calls; this says how far back it got.
      lookedBackTo: page.calls.length < limit ? page.lookedBackTo : null,
      isFiltered: FIELDS.some(name => asked.given[name] !== ''),
      accountId: asked.filter?.accountId ?? null,
      showsCosts: showsCosts(request),
    },
    asked.filter === null ? 422 : 200,
  )
  return answer
}

/** Whether the operator's role may see upstream costs. */
export function showsCosts({ session }: PageRequest): boolean {
  return mayDo(session?.role ?? null, 'business')
}

function statusChoices(given: string): readonly string[] {
  return given === '' || (STATUSES as readonly string[]).includes(given) ? STATUSES : [...STATUSES, given]
}

export function callView(call: OperatorCall) {
  const margin = marginOf(call)
  return {
    ...call,
    key: call.keyLabel === '' ? `…${call.keyLast4}` : call.keyLabel,
    failedOver: Math.max(0, (call.attempts?.length ?? 0) - 1),
    tone: call.status < 400 ? 'good' : call.status === 499 ? '' : call.status < 500 ? 'warn' : 'bad',
    margin,
    hasMargin: margin !== null,
    isLoss: margin !== null && margin < 0n,
  }
}

/** The charge minus the upstream's cost; null if the cost is unknown. */
function marginOf({ chargedMicroVnd, upstreamCostMicroVnd }: OperatorCall): MicroVnd | null {
  return upstreamCostMicroVnd === null ? null : microVnd(chargedMicroVnd - upstreamCostMicroVnd)
}

async function exportCsv(request: PageRequest): Promise<Answer> {
  const { options, now } = request
  const { filter } = await readCallQuery(request)
  if (filter === null) return { kind: 'problem', status: 400, message: 'operator.calls.fault.filter' }
  const chunks = exportCallsCsv(options.sql, { filter, withCosts: showsCosts(request) })
  return csvAnswer(request, { chunks, fileName: `calls-${dayOf(now)}.csv` })
}
