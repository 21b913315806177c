/**
 * Checks access to operator pages: the role, the second factor and, for some forms, that the second factor was entered
 * recently, or that nobody but an owner changes an operator's account.
 */

import { readAccountSummary } from '../../accounts/operator.ts'
import { isAskedAgain, mayDo } from '../../accounts/roles.ts'
import { type Answer, type OperatorPage, type PageRequest, type ProblemAnswer, signedIn } from '../page.ts'
import { demandFactor } from '../people/factor-gate.ts'

/** Returns the answer to send instead of the page; null if access is granted. */
export async function passGate({ needs, method }: OperatorPage, request: PageRequest): Promise<Answer | null> {
  if (!mayDo(signedIn(request).role, needs)) return { kind: 'problem', status: 403, message: 'operator.role.refused' }
  const again = method === 'POST' && isAskedAgain(needs)
  return demandFactor(request, { again, required: request.options.production })
}

/**
 * Only owners may change operators' accounts, or move money to them. Returns the answer to send instead; null if the operator may
 * change all of these accounts.
 */
export async function guardOperators(
  request: PageRequest,
  accountIds: readonly number[],
): Promise<ProblemAnswer | null> {
  if (mayDo(signedIn(request).role, 'team')) return null
  const accounts = await Promise.all(accountIds.map(accountId => readAccountSummary(request.options.sql, accountId)))
  const isOperators = accounts.some(account => account !== null && account.role !== null)
  return isOperators ? { kind: 'problem', status: 403, message: 'customer.is_operator' } : null
}
