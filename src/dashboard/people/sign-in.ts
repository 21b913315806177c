/** Pages for signing in with a password, and for signing out. */

import { endSession } from '../../accounts/sessions.ts'
import { signIn } from '../../accounts/sign-in.ts'
import { localPath } from '../guard.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { throttledAnswer } from './faults.ts'
import { landing } from './landing.ts'
import { offeredProviders } from './providers.ts'

export const SIGN_IN_PAGES: readonly Page[] = [
  { method: 'GET', path: '/signin', authentication: 'none', purpose: 'Form', handle: showForm },
  { method: 'POST', path: '/signin', authentication: 'none', purpose: 'Opens a session', handle: submit },
  {
    method: 'POST',
    path: '/signout',
    authentication: 'session',
    beforeFactor: true,
    purpose: 'Ends the session',
    handle: signOut,
  },
]

function showForm(request: PageRequest): Answer {
  const next = localPath(request.query.text('next', 500))
  if (request.session !== null) return { kind: 'redirect', to: landing(next, request.session) }
  return formPage(request, { email: '', next, fault: null, status: 200, isUnsent: request.query.has('unsent') })
}

function formPage(
  request: PageRequest,
  {
    email,
    next,
    fault,
    status,
    isUnsent = false,
  }: { email: string; next: string; fault: string | null; status: number; isUnsent?: boolean },
): Answer {
  return {
    kind: 'page',
    template: 'signin',
    title: text(request.language, 'signin.title'),
    status,
    data: { email, next, fault, isUnsent, providers: offeredProviders(request, next) },
  }
}

async function submit(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, language } = request
  const email = form.text('email', 300)
  const next = localPath(form.text('next', 500))
  const result = await signIn(options.people, visitor, { email, password: form.secret('password') })
  switch (result.outcome) {
    case 'signed_in':
      return { kind: 'redirect', to: landing(form.text('next', 500), result.opened.session), session: result.opened }
    case 'refused':
      return formPage(request, { email, next, fault: text(language, 'signin.refused'), status: 422 })
    case 'blocked':
      return formPage(request, { email, next, fault: text(language, 'signin.blocked'), status: 403 })
    case 'throttled':
      return { ...throttledAnswer(result), message: 'signin.throttled' }
  }
}

async function signOut(request: PageRequest): Promise<Answer> {
  const { accountId, sessionId } = signedIn(request)
  await endSession(request.options.people, { accountId, sessionId })
  return { kind: 'redirect', to: '/', session: 'end' }
}
