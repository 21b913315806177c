/**
 * Checks access to operator pages: the role, the second factor and, for some forms, that the second factor was entered
 * recently.
 */

import { isAskedAgain, mayDo } from '../../accounts/roles.ts'
import { type Answer, type OperatorPage, type PageRequest, signedIn } from '../page.ts'
import { demandFactor } from '../people/factor-gate.ts'

/** Returns the answer to send instead of the page; null if access is granted. */
export async function passGate({ needs, method }: OperatorPage, request: PageRequest): Promise<Answer | null> {
  if (!mayDo(signedIn(request).role, needs)) return { kind: 'problem', status: 403, message: 'operator.role.refused' }
  const again = method === 'POST' && isAskedAgain(needs)
  return demandFactor(request, { again, required: request.options.production })
}
