/** One call: what happened, where it was attempted, what it used and cost, and its refund. */

import { listActions, recordAction } from '../../accounts/operator-log.ts'
import { mayDo } from '../../accounts/roles.ts'
import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import { ClosedAccountError } from '../../ledger/credit.ts'
import { refundCall } from '../../ledger/refund.ts'
import { type OperatorCall, readOperatorCall } from '../../ledger/reports/operator-call.ts'
import { isUpstreamFailure } from '../../ledger/reports/upstream-figures.ts'
import type { SettledAttempt } from '../../ledger/types.ts'
import { isUuid } from '../../lib/ids.ts'
import { formatVnd } from '../../lib/money.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { isTextKey, text } from '../texts/index.ts'
import { callView, showsCosts } from './calls.ts'
import { actorOf, operatorPage, REASON_CHARACTERS_MAX } from './frame.ts'
import { guardOperators } from './gate.ts'

export const CALL_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/calls/:id',
    authentication: 'operator',
    needs: 'read',
    purpose: 'One call',
    handle: show,
  },
  {
    method: 'POST',
    path: '/operator/calls/:id/refund',
    authentication: 'operator',
    needs: 'money',
    purpose: 'Gives back what a call was charged, once',
    handle: refund,
  },
]

const ENDPOINTS = new Map<number, string>(Object.values(ENDPOINT_FACTS).map(facts => [facts.code, facts.path]))
/** How many of the latest operator actions on the account to search for the call's refund. */
const ACTIONS_MAX = 200

async function findCall({ options, params }: PageRequest): Promise<OperatorCall | null> {
  const { id = '' } = params
  return isUuid(id) ? readOperatorCall(options.sql, id) : null
}

async function show(request: PageRequest): Promise<Answer> {
  const call = await findCall(request)
  return call === null ? NOT_FOUND : callPage(request, call, null)
}

async function callPage(request: PageRequest, call: OperatorCall, fault: string | null): Promise<Answer> {
  const { options, form, language, session } = request
  const { accountId, refundedAt, requestId } = call
  const refunds = refundedAt === null ? [] : await listActions(options.sql, { accountId, limit: ACTIONS_MAX })
  const known = call.cachedInputTokens + (call.cacheWriteTokens ?? 0)
  const data = {
    call: callView(call),
    hasFirstByte: call.firstByteMs !== null,
    hasCacheWrites: call.cacheWriteTokens !== null,
    catalogue: call.catalogue?.slice(0, 12) ?? '',
    endpoint: ENDPOINTS.get(call.endpoint) ?? '',
    errorText: call.errorCode === null ? null : outcomeText(language, call.errorCode),
    attempts: (call.attempts ?? []).map(attempt => attemptView(request, attempt)),
    areAttemptsKept: call.attempts !== null,
    uncachedInputTokens: Math.max(0, call.inputTokens - known),
    unitKey: `operator.call.per.${call.pricePer}`,
    refund: refunds.find(({ action, subject }) => action === 'call.refund' && subject.startsWith(requestId)) ?? null,
    isRefundable: refundedAt === null && call.chargedMicroVnd > 0n,
    reason: form.text('reason', REASON_CHARACTERS_MAX),
    mayRefund: mayDo(session?.role ?? null, 'money') && (await guardOperators(request, [accountId])) === null,
    showsCosts: showsCosts(request),
    fault,
  }
  return operatorPage(request, 'operator-call', 'calls', data, fault === null ? 200 : 422)
}

function attemptView({ language, options }: PageRequest, attempt: SettledAttempt) {
  const { credential, model, startedMs, endedMs, outcome, status = null } = attempt
  const [upstream = ''] = credential.split('#')
  return {
    upstream,
    // The catalogue may have dropped the upstream since.
    isKnown: options.catalogue.upstreams.has(upstream),
    credential,
    model,
    startedMs,
    tookMs: Math.max(0, endedMs - startedMs),
    outcome: outcomeText(language, outcome),
    status,
    tone: outcomeTone(outcome),
  }
}

export function outcomeTone(outcome: string): '' | 'good' | 'warn' | 'bad' {
  if (outcome === 'ok') return 'good'
  if (outcome === 'client_gone') return ''
  return isUpstreamFailure(outcome) ? 'bad' : 'warn'
}

/** Returns the outcome in words or, if the texts have none for it, the outcome itself, which is a code of errors.ts. */
export function outcomeText(language: PageRequest['language'], outcome: string): string {
  const key = `operator.outcome.${outcome}`
  return isTextKey(key) ? text(language, key) : outcome
}

async function refund(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const call = await findCall(request)
  if (call === null) return NOT_FOUND
  const refused = await guardOperators(request, [call.accountId])
  if (refused !== null) return refused
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  if (reason === '') return callPage(request, call, text(language, 'operator.reason.fault'))
  const { accountId, callId, requestId } = call
  const refunding = options.sql.begin(async transaction => {
    const refunded = await refundCall(transaction, { callId, accountId, note: requestId })
    if (refunded.outcome === 'refunded') {
      const subject = `${requestId} ${formatVnd(refunded.amountMicroVnd)} VND`
      await recordAction(transaction, { by: actorOf(request), action: 'call.refund', accountId, subject, reason })
    }
    return refunded.outcome
  })
  const outcome = await refunding.catch((error: unknown) => {
    if (error instanceof ClosedAccountError) return 'closed' as const
    throw error
  })
  if (outcome === 'closed') return callPage(request, call, text(language, 'operator.adjust.closed'))
  if (outcome === 'nothing') return callPage(request, call, text(language, 'operator.refund.nothing'))
  if (outcome === 'refunded') options.payments.onCredited(accountId)
  const done = outcome === 'refunded' ? 'refunded' : 'refunded_before'
  return { kind: 'redirect', to: `/operator/calls/${callId}?done=${done}` }
}
