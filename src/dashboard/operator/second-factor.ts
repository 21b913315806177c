/** An operator's own second factor: setting it up, giving it after sign-in, replacing it. */

import { countRecoveryCodes } from '../../accounts/recovery-codes.ts'
import { enrolAuthenticator, offerAuthenticator, readOffer, renewRecoveryCodes } from '../../accounts/second-factor.ts'
import type { Authenticator } from '../../accounts/totp.ts'
import { renderQrSvg } from '../../payments/qr-svg.ts'
import { localPath } from '../guard.ts'
import { type Answer, type Page, type PageAnswer, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { checkCode, demandFactor, FACTOR_PATH } from './gate.ts'

const OWN = { authentication: 'operator', needs: 'own' } as const

export const SECOND_FACTOR_PAGES: readonly Page[] = [
  { method: 'GET', path: FACTOR_PATH, ...OWN, purpose: 'Asks for it, or sets it up', handle: show },
  { method: 'POST', path: FACTOR_PATH, ...OWN, purpose: 'Takes a code', handle: give },
  { method: 'POST', path: `${FACTOR_PATH}/enrol`, ...OWN, purpose: 'Takes a new authenticator', handle: enrol },
  { method: 'POST', path: `${FACTOR_PATH}/replace`, ...OWN, purpose: 'Offers another one', handle: replace },
  { method: 'POST', path: `${FACTOR_PATH}/codes`, ...OWN, purpose: 'Makes new recovery codes', handle: renew },
]

const NEXT_CHARACTERS_MAX = 500
const CODE_CHARACTERS_MAX = 40
const OFFER_CHARACTERS_MAX = 300

const nextOf = (request: PageRequest): string =>
  localPath((request.method === 'POST' ? request.form : request.query).text('next', NEXT_CHARACTERS_MAX), '/operator')

async function show(request: PageRequest): Promise<Answer> {
  const { options } = request
  const session = signedIn(request)
  if (!session.hasSecondFactor) return offerPage(request)
  if (session.secondFactorAt === null) return askPage(request, null)
  const left = await countRecoveryCodes(options.sql, session.accountId)
  return factorPage(request, 'second-factor-state', 'factor.title', { left })
}

function factorPage(
  { language }: PageRequest,
  template: string,
  title: 'factor.title' | 'factor.again.title' | 'factor.codes.title',
  data: Readonly<Record<string, unknown>>,
  fault: string | null = null,
): PageAnswer {
  const status = fault === null ? 200 : 422
  return { kind: 'page', template, title: text(language, title), section: 'operator', status, data: { ...data, fault } }
}

function askPage(request: PageRequest, fault: string | null): Answer {
  return factorPage(request, 'second-factor', 'factor.again.title', { next: nextOf(request) }, fault)
}

/** `offered`: shown before, and its code was wrong. */
async function offerPage(
  request: PageRequest,
  offered: { readonly offer: string; readonly authenticator: Authenticator; readonly fault: string } | null = null,
): Promise<Answer> {
  const { options, language } = request
  const { offer, authenticator } =
    offered ?? (await offerAuthenticator(options.people, options.keySecrets, signedIn(request)))
  const data = {
    offer,
    secret: authenticator.secret.replace(/.{4}(?=.)/g, '$& '),
    qr: renderQrSvg(authenticator.uri, text(language, 'factor.enrol.qr')),
    isRequired: options.production,
    next: nextOf(request),
  }
  const page = factorPage(request, 'second-factor-enrol', 'factor.title', data, offered?.fault)
  return { ...page, secret: true }
}

async function give(request: PageRequest): Promise<Answer> {
  const session = signedIn(request)
  if (!session.hasSecondFactor) return { kind: 'redirect', to: FACTOR_PATH }
  const refusal = await checkCode(request, request.form.text('code', CODE_CHARACTERS_MAX), fault =>
    askPage(request, fault),
  )
  return refusal ?? { kind: 'redirect', to: nextOf(request) }
}

async function enrol(request: PageRequest): Promise<Answer> {
  const { options, form, language, now } = request
  const session = signedIn(request)
  const refusal = session.hasSecondFactor ? await demandFactor(request, session, { again: true }) : null
  if (refusal !== null) return refusal
  const offer = form.text('offer', OFFER_CHARACTERS_MAX)
  const code = form.text('code', CODE_CHARACTERS_MAX)
  const given = { offer, code, replace: session.hasSecondFactor, now }
  const answer = await enrolAuthenticator(options.people, options.keySecrets, session, given)
  switch (answer.outcome) {
    case 'enrolled':
      return codesPage(request, answer.recoveryCodes)
    case 'wrong_code': {
      const authenticator = await readOffer(options.people, options.keySecrets, session, offer)
      const fault = text(language, 'factor.enrol.fault')
      return offerPage(request, authenticator === null ? null : { offer, authenticator, fault })
    }
    case 'bad_offer':
      return offerPage(request)
    case 'exists':
      return { kind: 'redirect', to: FACTOR_PATH }
  }
}

async function replace(request: PageRequest): Promise<Answer> {
  const refusal = await demandFactor(request, signedIn(request), { again: true })
  return refusal ?? offerPage(request)
}

async function renew(request: PageRequest): Promise<Answer> {
  const { options } = request
  const session = signedIn(request)
  const refusal = await demandFactor(request, session, { again: true })
  if (refusal !== null) return refusal
  if (!session.hasSecondFactor) return { kind: 'redirect', to: FACTOR_PATH }
  return codesPage(request, await renewRecoveryCodes(options.people, session))
}

function codesPage(request: PageRequest, codes: readonly string[]): Answer {
  const data = { codes, next: nextOf(request) }
  return { ...factorPage(request, 'recovery-codes', 'factor.codes.title', data), secret: true }
}
