/** Pages on which people set up, enter, replace or turn off their second factor. */

import { arePasskeysOffered, listPasskeys } from '../../accounts/passkeys.ts'
import { countRecoveryCodes } from '../../accounts/recovery-codes.ts'
import {
  awaitsFactor,
  dropSecondFactor,
  enrolAuthenticator,
  offerAuthenticator,
  readOffer,
  renewRecoveryCodes,
} from '../../accounts/second-factor.ts'
import type { Authenticator } from '../../accounts/totp.ts'
import { renderQrSvg } from '../../payments/qr-svg.ts'
import { type Answer, type Page, type PageAnswer, type PageRequest, signedIn } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { checkFactor, demandFactor, FACTOR_PATH, lostKey } from './factor-gate.ts'
import { landing } from './landing.ts'
import { checkProof, PROVEN, type ProofView, proofView } from './proof.ts'

const OWN = { authentication: 'session', beforeFactor: true } as const

export const SECOND_FACTOR_PAGES: readonly Page[] = [
  { method: 'GET', path: FACTOR_PATH, ...OWN, purpose: 'Asks for it, or sets it up', handle: show },
  { method: 'POST', path: FACTOR_PATH, ...OWN, purpose: 'Takes a code', handle: give },
  { method: 'POST', path: `${FACTOR_PATH}/enrol`, ...OWN, purpose: 'Takes a new authenticator', handle: enrol },
  { method: 'POST', path: `${FACTOR_PATH}/replace`, ...OWN, purpose: 'Offers another one', handle: replace },
  { method: 'POST', path: `${FACTOR_PATH}/codes`, ...OWN, purpose: 'Makes new recovery codes', handle: renew },
  { method: 'POST', path: `${FACTOR_PATH}/off`, ...OWN, purpose: 'Turns it off', handle: turnOff },
]

const NEXT_CHARACTERS_MAX = 500
const OFFER_CHARACTERS_MAX = 300

export function nextOf(request: PageRequest): string {
  const { method, form, query } = request
  return landing((method === 'POST' ? form : query).text('next', NEXT_CHARACTERS_MAX), signedIn(request))
}

/** Operators must have a second factor in production. */
export function isRequired(request: PageRequest): boolean {
  return request.options.production && signedIn(request).role !== null
}

async function show(request: PageRequest): Promise<Answer> {
  const session = signedIn(request)
  if (!session.hasSecondFactor) return offerPage(request)
  if (awaitsFactor(session)) return askPage(request, null)
  return statePage(request, null)
}

const NOTICES = ['added', 'removed'] as const

export async function statePage(request: PageRequest, fault: string | null): Promise<Answer> {
  const { options, query, language } = request
  const { accountId, hasAuthenticator } = signedIn(request)
  const [left, passkeys] = await Promise.all([
    countRecoveryCodes(options.sql, accountId),
    listPasskeys(options.sql, accountId),
  ])
  const isOffered = arePasskeysOffered(options.people)
  const done = query.choice('done', NOTICES)
  const data = {
    left,
    passkeys,
    hasPasskeyPart: isOffered || passkeys.length > 0,
    isOffered,
    hasAuthenticator,
    isRequired: isRequired(request),
    notice: done === null ? null : text(language, `passkey.done.${done}`),
    fault,
  }
  return factorPage(request, 'second-factor-state', 'factor.title', data, fault === null ? 200 : 422)
}

export function factorPage(
  { language }: PageRequest,
  template: string,
  title: TextKey,
  data: Readonly<Record<string, unknown>>,
  status = 200,
): PageAnswer {
  return { kind: 'page', template, title: text(language, title), section: 'account', status, data }
}

function askPage(request: PageRequest, fault: string | null): Answer {
  const data = { next: nextOf(request), lostKey: lostKey(request), fault }
  return factorPage(request, 'second-factor', 'factor.again.title', data, fault === null ? 200 : 422)
}

/** The proof of ownership to ask for when a factor is added. People with a second factor have passed it to get to this form. */
export function ownerProof(request: PageRequest): ProofView {
  return signedIn(request).hasSecondFactor ? PROVEN : proofView(request)
}

interface Offered {
  readonly offer: string
  readonly authenticator: Authenticator
}

/** Shows an authenticator to add: `offered` again after a failed attempt, or a new one. */
async function offerPage(
  request: PageRequest,
  offered: Offered | null = null,
  { fault = null, proof = ownerProof(request) }: { fault?: string | null; proof?: ProofView } = {},
): Promise<Answer> {
  const { options, language } = request
  const session = signedIn(request)
  const { offer, authenticator } = offered ?? (await offerAuthenticator(options.people, options.keySecrets, session))
  const data = {
    offer,
    secret: authenticator.secret.replace(/.{4}(?=.)/g, '$& '),
    qr: renderQrSvg(authenticator.uri, text(language, 'factor.enrol.qr')),
    isRequired: isRequired(request),
    next: nextOf(request),
    nextEncoded: encodeURIComponent(nextOf(request)),
    offersPasskey: !session.hasSecondFactor && arePasskeysOffered(options.people),
    email: session.email,
    proof,
    fault,
  }
  const isRefused = fault !== null || proof.isRefused
  return { ...factorPage(request, 'second-factor-enrol', 'factor.title', data, isRefused ? 422 : 200), secret: true }
}

async function give(request: PageRequest): Promise<Answer> {
  if (!signedIn(request).hasSecondFactor) return { kind: 'redirect', to: FACTOR_PATH }
  const refusal = await checkFactor(request, 'code', fault => askPage(request, fault))
  return refusal ?? { kind: 'redirect', to: nextOf(request) }
}

/**
 * Adds an authenticator. Adding the first factor requires proof that the person owns the account; otherwise, whoever finds an
 * open session could lock the owner out. Adding another one requires an existing factor.
 */
async function enrol(request: PageRequest): Promise<Answer> {
  const { options, form, language, now } = request
  const session = signedIn(request)
  const offer = form.text('offer', OFFER_CHARACTERS_MAX)
  const authenticator = await readOffer(options.people, options.keySecrets, session, offer)
  const offered = authenticator === null ? null : { offer, authenticator }
  if (session.hasSecondFactor) {
    const refusal = await demandFactor(request, { again: true })
    if (refusal !== null) return refusal
  } else {
    const proof = await checkProof(request)
    if (proof.outcome === 'throttled') return proof.answer
    if (proof.outcome === 'refused') return offerPage(request, offered, { proof: proof.proof })
  }
  const code = form.text('code')
  const given = { offer, code, replace: session.hasSecondFactor, language, now }
  const answer = await enrolAuthenticator(options.people, options.keySecrets, session, given)
  switch (answer.outcome) {
    case 'enrolled':
      return codesPage(request, answer.recoveryCodes)
    case 'wrong_code':
      return offerPage(request, offered, { fault: text(language, 'factor.enrol.fault') })
    case 'bad_offer':
      return offerPage(request)
    case 'exists':
      return { kind: 'redirect', to: FACTOR_PATH }
  }
}

async function replace(request: PageRequest): Promise<Answer> {
  const refusal = await demandFactor(request, { again: true })
  return refusal ?? offerPage(request)
}

async function renew(request: PageRequest): Promise<Answer> {
  const { options } = request
  const session = signedIn(request)
  const refusal = await demandFactor(request, { again: true })
  if (refusal !== null) return refusal
  if (!session.hasSecondFactor) return { kind: 'redirect', to: FACTOR_PATH }
  return codesPage(request, await renewRecoveryCodes(options.people, session))
}

export function codesPage(request: PageRequest, codes: readonly string[]): Answer {
  const data = { codes, allText: codes.join('\n'), next: nextOf(request) }
  return { ...factorPage(request, 'recovery-codes', 'factor.codes.title', data), secret: true }
}

async function turnOff(request: PageRequest): Promise<Answer> {
  if (isRequired(request)) return { kind: 'problem', status: 403, message: 'factor.enrol.required' }
  const refusal = await demandFactor(request, { again: true })
  if (refusal !== null) return refusal
  await dropSecondFactor(request.options.people, signedIn(request), request.language)
  return { kind: 'redirect', to: '/account?done=factor_off' }
}
