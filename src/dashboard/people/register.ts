/** Registration: a form, an email, and the page that its link opens, which asks for the password again. */

import { finishRegistration, readVerification, register } from '../../accounts/register.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { faultsOf, passwordBounds, throttledAnswer } from './faults.ts'
import { offeredProviders } from './providers.ts'

export const REGISTER_PAGES: readonly Page[] = [
  { method: 'GET', path: '/register', authentication: 'none', purpose: 'Form for a new account', handle: showForm },
  { method: 'POST', path: '/register', authentication: 'none', purpose: 'Sends the confirmation mail', handle: submit },
  {
    method: 'GET',
    path: '/register/sent',
    authentication: 'none',
    purpose: 'Tells to look for the mail',
    handle: sent,
  },
  {
    method: 'GET',
    path: '/verify',
    authentication: 'none',
    purpose: 'Behind the link of the mail',
    handle: showVerify,
  },
  { method: 'POST', path: '/verify', authentication: 'none', purpose: 'Makes the account', handle: verify },
]

const NO_FAULTS = { email: null, password: null }

function showForm(request: PageRequest): Answer {
  if (request.session !== null) return { kind: 'redirect', to: '/overview' }
  return formPage(request, { email: '', faults: NO_FAULTS, status: 200 })
}

function formPage(
  request: PageRequest,
  { email, faults, status }: { email: string; faults: typeof NO_FAULTS | ReturnType<typeof faultsOf>; status: number },
): Answer {
  const { options, language } = request
  return {
    kind: 'page',
    template: 'register',
    title: text(language, 'register.title'),
    status,
    data: { email, faults, ...passwordBounds(options.people), providers: offeredProviders(request, '/overview') },
  }
}

async function submit(request: PageRequest): Promise<Answer> {
  const { options, visitor, form } = request
  const email = form.text('email', 300)
  const result = await register(options.people, visitor, { email, password: form.secret('password') })
  switch (result.outcome) {
    case 'accepted':
      return { kind: 'redirect', to: '/register/sent' }
    case 'invalid':
      return formPage(request, { email, faults: faultsOf(request, result), status: 422 })
    case 'throttled':
      return throttledAnswer(result)
  }
}

function sent({ options, language }: PageRequest): Answer {
  const hours = Math.floor(options.people.limits.verifySeconds / 3600)
  return {
    kind: 'page',
    template: 'sent',
    title: text(language, 'sent.title'),
    data: { message: text(language, 'sent.register', { hours }) },
  }
}

async function showVerify(request: PageRequest): Promise<Answer> {
  const token = request.query.text('token')
  const found = await readVerification(request.options.people, token)
  return found === null ? expired(request) : verifyPage(request, { token, email: found.email, fault: null })
}

function verifyPage(
  { language }: PageRequest,
  { token, email, fault }: { token: string; email: string; fault: string | null },
): Answer {
  return {
    kind: 'page',
    template: 'verify',
    title: text(language, 'verify.title'),
    status: fault === null ? 200 : 422,
    data: { token, email, fault },
  }
}

async function verify(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, language } = request
  const token = form.text('token')
  const result = await finishRegistration(options.people, visitor, { token, password: form.secret('password') })
  switch (result.outcome) {
    case 'verified':
      return { kind: 'redirect', to: '/overview', session: result.opened }
    case 'wrong_password': {
      const email = (await readVerification(options.people, token))?.email ?? ''
      return verifyPage(request, { token, email, fault: text(language, 'fault.password.wrong') })
    }
    case 'expired':
      return expired(request)
    case 'throttled':
      return throttledAnswer(result)
  }
}

function expired({ language }: PageRequest): Answer {
  return {
    kind: 'page',
    template: 'expired',
    title: text(language, 'expired.title'),
    status: 410,
    data: { message: text(language, 'expired.register'), again: '/register' },
  }
}
