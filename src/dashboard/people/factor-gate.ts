/**
 * Asks people for their second factor if they have one. Forms that need it are not lost: the page that asks for the code
 * contains every field of the form and submits them together with the code.
 */

import { givePasskey } from '../../accounts/passkeys.ts'
import { giveSecondFactor, isFactorFresh } from '../../accounts/second-factor.ts'
import { type Answer, type PageRequest, signedIn } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { throttledAnswer } from './faults.ts'

/** Form field for the code; PASSKEY_FIELD is for a passkey's response. Either is submitted with the form that it confirms. */
export const FACTOR_FIELD = 'second_factor'
const PASSKEY_FIELD = 'second_factor_passkey'
export const FACTOR_PATH = '/account/second-factor'
const CODE_CHARACTERS_MAX = 40
/** Maximum length of a passkey's response: far more than the few hundred bytes that it signs and a signature of up to 512, in base64. */
export const PASSKEY_CHARACTERS_MAX = 8_000

/**
 * Returns null if the request may go on: the second factor was passed in this session (recently, if `again` is set) or with
 * this form, or the person has none and `required` is false. Otherwise returns the page that asks for it.
 */
export async function demandFactor(
  request: PageRequest,
  { again, required = false }: { readonly again: boolean; readonly required?: boolean },
): Promise<Answer | null> {
  const { options, form, now } = request
  const session = signedIn(request)
  const isWanted = session.hasSecondFactor || required
  const isGiven = again ? isFactorFresh(options.people, session, now) : session.secondFactorAt !== null
  if (!isWanted || isGiven) return null
  const isForm = request.method === 'POST'
  if (!isForm || !session.hasSecondFactor) {
    const next = isForm ? '' : `${request.path}${request.query.with({})}`
    return { kind: 'redirect', to: `${FACTOR_PATH}${next && `?next=${encodeURIComponent(next)}`}` }
  }
  if (!form.has(FACTOR_FIELD)) return confirmPage(request, null)
  return checkFactor(request, FACTOR_FIELD, fault => confirmPage(request, fault))
}

/** Null if the code in this field or the passkey's response is valid; otherwise a page with an error message. */
export async function checkFactor(
  request: PageRequest,
  codeField: string,
  refuse: (fault: string) => Answer | Promise<Answer>,
): Promise<Answer | null> {
  const { options, visitor, form, language, now } = request
  const session = signedIn(request)
  const signed = form.text(PASSKEY_FIELD, PASSKEY_CHARACTERS_MAX)
  const typed = form.text(codeField, CODE_CHARACTERS_MAX)
  const answer =
    signed === ''
      ? await giveSecondFactor(options.people, options.keySecrets, { visitor, session, typed, now })
      : await givePasskey(options.people, { visitor, session, answer: signed })
  switch (answer.outcome) {
    case 'confirmed':
      return null
    case 'throttled':
      return { ...throttledAnswer(answer), message: 'factor.throttled' }
    default:
      return refuse(text(language, FAULTS[answer.outcome]))
  }
}

const FAULTS = {
  refused: 'factor.fault.refused',
  used: 'factor.fault.used',
  refused_passkey: 'passkey.refused',
  expired: 'passkey.expired',
  copied: 'passkey.copied',
} as const satisfies Readonly<Record<string, TextKey>>

function confirmPage(request: PageRequest, fault: string | null): Answer {
  const { language, path, query, form } = request
  return {
    kind: 'page',
    template: 'second-factor-again',
    title: text(language, 'factor.again.title'),
    section: request.path.startsWith('/operator') ? 'operator' : 'account',
    status: fault === null ? 200 : 422,
    data: {
      action: `${path}${query.with({})}`,
      fields: form.entries.filter(({ name }) => name !== FACTOR_FIELD && name !== PASSKEY_FIELD),
      name: FACTOR_FIELD,
      lostKey: lostKey(request),
      fault,
    },
  }
}

/** Advice for people who have lost both phone and codes. */
export function lostKey({ session }: PageRequest): TextKey {
  return session?.role == null ? 'factor.lost' : 'factor.lost.operator'
}
