/** Password reset: sends the email, and serves the page that its link opens. */

import { readReset, requestReset, resetPassword } from '../../accounts/reset.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { faultsOf, passwordBounds, throttledAnswer } from './faults.ts'

export const RESET_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/forgot',
    authentication: 'none',
    purpose: 'Form',
    handle: request => forgotPage(request, '', null),
  },
  {
    method: 'POST',
    path: '/forgot',
    authentication: 'none',
    purpose: 'Sends the mail, if there is an account',
    handle: forgot,
  },
  { method: 'GET', path: '/forgot/sent', authentication: 'none', purpose: 'Tells to look for the mail', handle: sent },
  { method: 'GET', path: '/reset', authentication: 'none', purpose: 'Behind the link of the mail', handle: showReset },
  { method: 'POST', path: '/reset', authentication: 'none', purpose: 'Sets a new password', handle: reset },
]

function forgotPage({ language }: PageRequest, email: string, fault: string | null): Answer {
  return {
    kind: 'page',
    template: 'forgot',
    title: text(language, 'forgot.title'),
    status: fault === null ? 200 : 422,
    data: { email, fault },
  }
}

async function forgot(request: PageRequest): Promise<Answer> {
  const { options, visitor, form } = request
  const email = form.text('email', 300)
  const result = await requestReset(options.people, visitor, { email })
  switch (result.outcome) {
    case 'accepted':
      return { kind: 'redirect', to: '/forgot/sent' }
    case 'invalid':
      return forgotPage(request, email, faultsOf(request, result).email)
    case 'throttled':
      return { ...throttledAnswer(result), message: 'forgot.throttled' }
  }
}

function sent({ language }: PageRequest): Answer {
  return {
    kind: 'page',
    template: 'sent',
    title: text(language, 'sent.title'),
    data: { message: text(language, 'sent.forgot') },
  }
}

async function showReset(request: PageRequest): Promise<Answer> {
  const token = request.query.text('token')
  const found = await readReset(request.options.people, token)
  return found === null ? expired(request) : resetPage(request, { token, email: found.email, fault: null })
}

function resetPage(
  { options, language }: PageRequest,
  { token, email, fault }: { token: string; email: string; fault: string | null },
): Answer {
  return {
    kind: 'page',
    template: 'reset',
    title: text(language, 'reset.title'),
    status: fault === null ? 200 : 422,
    data: { token, email, fault, ...passwordBounds(options.people) },
  }
}

async function reset(request: PageRequest): Promise<Answer> {
  const { options, visitor, form } = request
  const token = form.text('token')
  const result = await resetPassword(options.people, visitor, { token, password: form.secret('password') })
  switch (result.outcome) {
    case 'changed':
      return { kind: 'redirect', to: '/overview', session: result.opened }
    case 'invalid': {
      const email = (await readReset(options.people, token))?.email ?? ''
      return resetPage(request, { token, email, fault: faultsOf(request, result).password })
    }
    case 'blocked':
      return { kind: 'problem', status: 403, message: 'signin.blocked' }
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
    data: { message: text(language, 'expired.reset'), again: '/forgot' },
  }
}
