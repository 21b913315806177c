/** Changing the account's address: a form, an email to the new address, and the page that its link opens. */

import { finishEmailChange, readEmailChange, requestEmailChange } from '../../accounts/change-email.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { faultsOf, throttledAnswer } from './faults.ts'
import { checkProof, PROVEN, type ProofView, proofView } from './proof.ts'

const PATH = '/account/email'
const OWN = { authentication: 'session' } as const

export const EMAIL_PAGES: readonly Page[] = [
  { method: 'GET', path: PATH, ...OWN, purpose: 'Form for another address', handle: request => emailPage(request) },
  { method: 'POST', path: PATH, ...OWN, purpose: 'Sends a mail to it', handle: submit },
  { method: 'GET', path: `${PATH}/sent`, ...OWN, purpose: 'Tells to look for the mail', handle: sent },
  { method: 'GET', path: `${PATH}/confirm`, ...OWN, purpose: 'Behind the link of the mail', handle: showLink },
  { method: 'POST', path: `${PATH}/confirm`, ...OWN, purpose: 'Changes the address', handle: confirm },
]

function emailPage(
  request: PageRequest,
  { fault = null, proof = proofView(request) }: { fault?: string | null; proof?: ProofView } = {},
): Answer {
  const { language, form } = request
  const isRefused = fault !== null || proof.isRefused
  return {
    kind: 'page',
    template: 'email',
    title: text(language, 'email.title'),
    section: 'account',
    status: isRefused ? 422 : 200,
    data: { email: signedIn(request).email, next: form.text('new_email', 300), fault, proof },
  }
}

async function submit(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, language } = request
  const proof = await checkProof(request)
  if (proof.outcome === 'throttled') return proof.answer
  if (proof.outcome === 'refused') return emailPage(request, { proof: proof.proof })
  const email = form.text('new_email', 300)
  const result = await requestEmailChange(options.people, visitor, signedIn(request), { email })
  switch (result.outcome) {
    case 'accepted':
      return { kind: 'redirect', to: `${PATH}/sent` }
    case 'same':
      return emailPage(request, { fault: text(language, 'email.same'), proof: PROVEN })
    case 'invalid':
      return emailPage(request, { fault: faultsOf(request, result).email, proof: PROVEN })
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
    section: 'account',
    data: { message: text(language, 'email.sent', { hours }) },
  }
}

async function showLink(request: PageRequest): Promise<Answer> {
  const token = request.query.text('token')
  const found = await readEmailChange(request.options.people, signedIn(request), token)
  if (found === null) return expired(request, 'email.expired')
  return {
    kind: 'page',
    template: 'email-confirm',
    title: text(request.language, 'email.title'),
    section: 'account',
    data: { token, before: signedIn(request).email, email: found.email },
  }
}

async function confirm(request: PageRequest): Promise<Answer> {
  const { options, visitor, form } = request
  const { outcome } = await finishEmailChange(options.people, visitor, signedIn(request), form.text('token'))
  if (outcome === 'changed') return { kind: 'redirect', to: '/account?done=email' }
  return expired(request, `email.${outcome}`)
}

function expired({ language }: PageRequest, message: 'email.expired' | 'email.taken'): Answer {
  return {
    kind: 'page',
    template: 'expired',
    title: text(language, 'expired.title'),
    section: 'account',
    status: 410,
    data: { message: text(language, message), again: PATH },
  }
}
