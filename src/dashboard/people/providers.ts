/**
 * Sign-in with Google or GitHub: sends the browser there, handles its return and, if the email address already has an account,
 * asks the account's owner to agree.
 */

import {
  PROVIDER_IDS,
  PROVIDER_LABELS,
  ProviderError,
  type ProviderId,
} from '../../accounts/identity-providers/types.ts'
import {
  type Linked,
  linkByMail,
  linkByPassword,
  linkToSession,
  mailLink,
  readLinkQuestion,
  readMailedLink,
  signInWithProvider,
} from '../../accounts/provider-sign-in.ts'
import { type Attempt, beginAttempt, secretsOf, takeAttempt } from '../../accounts/sign-in-attempts.ts'
import type { Throttled } from '../../accounts/types.ts'
import { localPath, splitTarget } from '../guard.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { throttledAnswer } from './faults.ts'
import { landing } from './landing.ts'

const OPEN = { authentication: 'none' } as const
const LINK = '/signin/link'

export const PROVIDER_PAGES: readonly Page[] = [
  ...PROVIDER_IDS.flatMap((id): Page[] => [
    {
      method: 'GET',
      path: `/signin/${id}`,
      ...OPEN,
      purpose: 'Sends the browser there',
      handle: request => start(request, id),
    },
    {
      method: 'GET',
      path: `/signin/${id}/callback`,
      ...OPEN,
      purpose: 'Where it comes back',
      handle: request => finish(request, id),
    },
  ]),
  { method: 'GET', path: LINK, ...OPEN, purpose: 'Asks the owner of the address', handle: request => ask(request) },
  { method: 'POST', path: LINK, ...OPEN, purpose: 'Agrees by password', handle: agreeByPassword },
  { method: 'POST', path: `${LINK}/mail`, ...OPEN, purpose: 'Mails a link to agree', handle: sendMail },
  { method: 'GET', path: `${LINK}/sent`, ...OPEN, purpose: 'Tells to look for the mail', handle: sent },
  { method: 'GET', path: `${LINK}/confirm`, ...OPEN, purpose: 'Behind the link of the mail', handle: showLink },
  { method: 'POST', path: `${LINK}/confirm`, ...OPEN, purpose: 'Agrees by mail', handle: agreeByMail },
]

/** Returns the label and link of each configured provider's sign-in button. */
export function offeredProviders({ options }: PageRequest, next: string) {
  return [...options.people.providers.keys()].map(id => ({
    id,
    label: PROVIDER_LABELS[id],
    path: `/signin/${id}?next=${encodeURIComponent(next)}`,
  }))
}

/**
 * Begins a sign-in attempt. Returns the attempt's token and the provider's URL to go to. `away`: the provider is not configured or
 * cannot be reached.
 */
export async function beginAt(
  { options, visitor }: PageRequest,
  attempt: Attempt,
): Promise<{ outcome: 'begun'; attempt: string; url: string } | { outcome: 'away' } | Throttled> {
  const provider = options.people.providers.get(attempt.provider)
  if (provider === undefined) return { outcome: 'away' }
  const begun = await beginAttempt(options.people, visitor, attempt)
  if (begun.outcome === 'throttled') return begun
  const url = await reach(() => provider.start(secretsOf(begun.token)), options)
  return url instanceof ProviderError ? { outcome: 'away' } : { outcome: 'begun', attempt: begun.token, url }
}

async function start(request: PageRequest, provider: ProviderId): Promise<Answer> {
  if (!request.options.people.providers.has(provider)) return NOT_FOUND
  const next = localPath(request.query.text('next', 500))
  const begun = await beginAt(request, { provider, accountId: null, next })
  if (begun.outcome === 'throttled') return throttledAnswer(begun)
  if (begun.outcome === 'away') return failed(request, 'providers.away')
  return { kind: 'redirect', to: begun.url, attempt: begun.attempt }
}

async function finish(request: PageRequest, id: ProviderId): Promise<Answer> {
  const { options, visitor, session, attempt: token } = request
  const { people } = options
  const provider = people.providers.get(id)
  if (provider === undefined) return NOT_FOUND
  const attempt = await takeAttempt(people.sql, token, id)
  if (attempt === null || token === null) return failed(request, 'providers.expired')
  const identity = await reach(() => provider.finish(splitTarget(request.target).query, secretsOf(token)), options)
  if (identity instanceof ProviderError) {
    return failed(request, identity.isDenied ? 'providers.denied' : 'providers.failed')
  }
  if (attempt.accountId !== null) {
    // The person who is signed in now did not begin the attempt.
    if (session?.accountId !== attempt.accountId) return failed(request, 'providers.expired')
    const { outcome } = await linkToSession(people, visitor, { session, identity })
    if (outcome === 'ended') return failed(request, 'providers.expired')
    return { kind: 'redirect', to: `/account/sign-ins?done=${outcome}_${id}`, attempt: 'end' }
  }
  const { next } = attempt
  const result = await signInWithProvider(people, visitor, { identity, next })
  switch (result.outcome) {
    case 'signed_in':
      return {
        kind: 'redirect',
        to: landing(next, result.opened.session),
        session: result.opened,
        attempt: 'end',
      }
    case 'waiting':
      return { kind: 'redirect', to: LINK, attempt: result.attempt }
    case 'throttled':
      return throttledAnswer(result)
    case 'no_email':
      return failed(request, 'providers.no_email')
    case 'blocked':
      return failed(request, 'signin.blocked')
  }
}

/**
 * Calls a provider. Returns the result or the provider's error, which is logged unless the person declined. A provider's
 * message may contain an authorization code, so the log gets only the types of errors.
 */
async function reach<Value>(
  work: () => Promise<Value>,
  { log }: PageRequest['options'],
): Promise<Value | ProviderError> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error
    if (!error.isDenied) log.warn({ cause: error }, 'a sign-in provider failed')
    return error
  }
}

function failed({ language }: PageRequest, message: TextKey): Answer {
  return {
    kind: 'page',
    template: 'signin-failed',
    title: text(language, 'providers.title'),
    status: 422,
    data: { message: text(language, message) },
  }
}

async function ask(request: PageRequest, fault: string | null = null): Promise<Answer> {
  const { options, language, attempt } = request
  const question = await readLinkQuestion(options.people, attempt)
  if (question === null) return failed(request, 'providers.expired')
  const label = PROVIDER_LABELS[question.provider]
  return {
    kind: 'page',
    template: 'signin-link',
    title: text(language, 'providers.link.title', { provider: label }),
    status: fault === null ? 200 : 422,
    data: { ...question, label, fault },
  }
}

async function agreeByPassword(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, attempt, language } = request
  const linked = await linkByPassword(options.people, visitor, { attempt, password: form.secret('password') })
  return linked.outcome === 'refused' ? ask(request, text(language, 'fault.password.wrong')) : done(request, linked)
}

async function sendMail(request: PageRequest): Promise<Answer> {
  const { options, visitor, attempt } = request
  const result = await mailLink(options.people, visitor, attempt)
  if (result.outcome === 'throttled') return throttledAnswer(result)
  return result.outcome === 'sent' ? { kind: 'redirect', to: `${LINK}/sent` } : failed(request, 'providers.expired')
}

function sent({ language }: PageRequest): Answer {
  return {
    kind: 'page',
    template: 'sent',
    title: text(language, 'sent.title'),
    data: { message: text(language, 'providers.sent') },
  }
}

async function showLink(request: PageRequest): Promise<Answer> {
  const { options, language, query, attempt } = request
  const token = query.text('token')
  const waiting = await readMailedLink(options.people, { attempt, token })
  if (waiting === null) return failed(request, 'providers.other_browser')
  const { email, provider } = waiting.identity
  const label = PROVIDER_LABELS[provider]
  return {
    kind: 'page',
    template: 'signin-confirm',
    title: text(language, 'providers.link.title', { provider: label }),
    data: { email, label, token },
  }
}

async function agreeByMail(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, attempt } = request
  return done(request, await linkByMail(options.people, visitor, { attempt, token: form.text('token') }))
}

function done(request: PageRequest, linked: Linked): Answer {
  switch (linked.outcome) {
    case 'linked':
      return {
        kind: 'redirect',
        to: landing(linked.next, linked.opened.session),
        session: linked.opened,
        attempt: 'end',
      }
    case 'throttled':
      return throttledAnswer(linked)
    case 'blocked':
      return failed(request, 'signin.blocked')
    case 'taken':
      return failed(request, 'providers.taken')
    default:
      return failed(request, 'providers.expired')
  }
}
