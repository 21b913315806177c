/** The account page: sessions and password. */

import { changePassword } from '../../accounts/reset.ts'
import { awaitsFactor } from '../../accounts/second-factor.ts'
import { endOtherSessions, endSession, listSessions } from '../../accounts/sessions.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { faultsOf, passwordBounds, throttledAnswer } from './faults.ts'

export const ACCOUNT_PAGES: readonly Page[] = [
  { method: 'GET', path: '/account', authentication: 'session', purpose: 'Sessions and password', handle: show },
  { method: 'POST', path: '/account/password', authentication: 'session', purpose: 'Changes it', handle: change },
  {
    method: 'POST',
    path: '/account/sessions/end',
    authentication: 'session',
    purpose: 'Ends all others',
    handle: endOthers,
  },
  { method: 'POST', path: '/account/sessions/:id/end', authentication: 'session', purpose: 'Ends one', handle: end },
]

const NO_FAULTS = { current: null, next: null }
const NOTICES = ['password', 'ended', 'factor_off', 'email'] as const

async function show(request: PageRequest): Promise<Answer> {
  return accountPage(request, NO_FAULTS)
}

async function accountPage(
  request: PageRequest,
  faults: { current: string | null; next: string | null },
): Promise<Answer> {
  const { options, language, query } = request
  const session = signedIn(request)
  const sessions = await listSessions(options.people, session.accountId)
  const done = query.choice('done', NOTICES)
  const hasFault = faults.current !== null || faults.next !== null
  return {
    kind: 'page',
    template: 'account',
    title: text(language, 'account.title'),
    section: 'account',
    status: hasFault ? 422 : 200,
    data: {
      email: session.email,
      isVerified: session.emailVerifiedAt !== null,
      notice: done === null ? null : text(language, `account.done.${done}`),
      sessions: sessions.map(other => ({
        sessionId: other.sessionId,
        device: other.device === '' ? text(language, 'account.device.unknown') : other.device,
        seenAt: other.seenAt,
        createdAt: other.createdAt,
        isThis: other.sessionId === session.sessionId,
        isWaiting: awaitsFactor(other),
      })),
      hasOthers: sessions.length > 1,
      hasPassword: session.hasPassword,
      hasFactor: session.hasSecondFactor,
      faults,
      ...passwordBounds(options.people),
    },
  }
}

async function change(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, language } = request
  const passwords = { current: form.secret('current'), next: form.secret('next') }
  const result = await changePassword(options.people, visitor, signedIn(request), passwords)
  switch (result.outcome) {
    case 'changed':
      return { kind: 'redirect', to: '/account?done=password', session: result.opened }
    case 'invalid':
      return accountPage(request, { current: null, next: faultsOf(request, result).password })
    case 'refused':
      return accountPage(request, { current: text(language, 'fault.password.wrong'), next: null })
    case 'throttled':
      return throttledAnswer(result)
  }
}

async function endOthers(request: PageRequest): Promise<Answer> {
  await endOtherSessions(request.options.people, signedIn(request))
  return { kind: 'redirect', to: '/account?done=ended' }
}

async function end(request: PageRequest): Promise<Answer> {
  const { accountId } = signedIn(request)
  const sessionId = idOf(request.params.id)
  if (sessionId === null || !(await endSession(request.options.people, { accountId, sessionId }))) return NOT_FOUND
  return { kind: 'redirect', to: '/account?done=ended' }
}
