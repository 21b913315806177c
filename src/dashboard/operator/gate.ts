/**
 * The gate before operator pages: the role, the second factor, and for money a recent second factor. A form that has to
 * wait for a code is kept: the page that asks for the code carries every field and submits them with it.
 */

import { isAskedAgain, mayDo } from '../../accounts/roles.ts'
import { giveSecondFactor, isFactorFresh } from '../../accounts/second-factor.ts'
import type { Session } from '../../accounts/types.ts'
import { type Answer, type OperatorPage, type PageRequest, signedIn } from '../page.ts'
import { throttledAnswer } from '../people/faults.ts'
import { type TextKey, text } from '../texts/index.ts'

/** Field for the code, beside those of the form that it confirms. */
export const FACTOR_FIELD = 'second_factor'
export const FACTOR_PATH = '/operator/second-factor'
const CODE_CHARACTERS_MAX = 40

/** Null: the page may answer. */
export async function passGate({ needs, method }: OperatorPage, request: PageRequest): Promise<Answer | null> {
  const session = signedIn(request)
  if (!mayDo(session.role, needs)) return { kind: 'problem', status: 403, message: 'operator.role.refused' }
  if (needs === 'own') return null
  return demandFactor(request, session, { again: method === 'POST' && isAskedAgain(needs) })
}

/** Null when the second factor was given (`again`: recently) or is not needed. */
export async function demandFactor(
  request: PageRequest,
  session: Session,
  { again }: { readonly again: boolean },
): Promise<Answer | null> {
  const { options, form, now } = request
  const isWanted = session.hasSecondFactor || options.production
  const isGiven = again ? isFactorFresh(options.people, session, now) : session.secondFactorAt !== null
  if (!isWanted || isGiven) return null
  const isForm = request.method === 'POST'
  if (!isForm || !session.hasSecondFactor) {
    const next = isForm ? '/operator' : `${request.path}${request.query.with({})}`
    return { kind: 'redirect', to: `${FACTOR_PATH}?next=${encodeURIComponent(next)}` }
  }
  if (!form.has(FACTOR_FIELD)) return confirmPage(request, null)
  return checkCode(request, form.text(FACTOR_FIELD, CODE_CHARACTERS_MAX), fault => confirmPage(request, fault))
}

/** Null for a right code; else the message. */
export async function checkCode(
  request: PageRequest,
  typed: string,
  refuse: (fault: string) => Answer | Promise<Answer>,
): Promise<Answer | null> {
  const { options, visitor, language, now } = request
  const given = { visitor, session: signedIn(request), typed, now }
  const answer = await giveSecondFactor(options.people, options.keySecrets, given)
  switch (answer.outcome) {
    case 'confirmed':
      return null
    case 'throttled':
      return throttledAnswer(answer)
    default:
      return refuse(text(language, FAULTS[answer.outcome]))
  }
}

const FAULTS = {
  refused: 'factor.fault.refused',
  used: 'factor.fault.used',
} as const satisfies Readonly<Record<string, TextKey>>

function confirmPage(request: PageRequest, fault: string | null): Answer {
  const { language, path, query, form } = request
  return {
    kind: 'page',
    template: 'second-factor-again',
    title: text(language, 'factor.again.title'),
    section: 'operator',
    status: fault === null ? 200 : 422,
    data: {
      action: `${path}${query.with({})}`,
      fields: form.entries.filter(({ name }) => name !== FACTOR_FIELD),
      name: FACTOR_FIELD,
      fault,
    },
  }
}
