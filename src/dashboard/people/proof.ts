/**
 * Asks for proof of identity before changes that could take an account away from its owner: the password and the second factor,
 * unless they were given recently. Each form for such a change includes the fields; see templates/partials/proof.hbs.
 */

import { isFactorFresh } from '../../accounts/second-factor.ts'
import { confirmPassword, isPasswordFresh } from '../../accounts/sign-in.ts'
import { type Answer, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { checkFactor, FACTOR_FIELD } from './factor-gate.ts'
import { throttledAnswer } from './faults.ts'
import { offeredProviders } from './providers.ts'

/** Which proof the form asks for, and what was wrong with the proof that was given. */
export interface ProofView {
  readonly asksPassword: boolean
  /** True if the account has no password, so that the only proof is to sign in again. */
  readonly asksSignIn: boolean
  readonly providers: ReturnType<typeof offeredProviders>
  readonly asksCode: boolean
  /** True if something is missing or wrong. */
  readonly isRefused: boolean
  readonly passwordFault: string | null
  readonly codeFault: string | null
}

/** Asks for nothing. For a form that is refused for another reason: the proof just given stays valid for a while. */
export const PROVEN: ProofView = {
  asksPassword: false,
  asksSignIn: false,
  providers: [],
  asksCode: false,
  isRefused: false,
  passwordFault: null,
  codeFault: null,
}

export type Proof =
  | { readonly outcome: 'proven' }
  | { readonly outcome: 'refused'; readonly proof: ProofView }
  | { readonly outcome: 'throttled'; readonly answer: Answer }

export function proofView(request: PageRequest): ProofView {
  const { options, session, now, method, path } = request
  const isFresh = session !== null && isPasswordFresh(options.people, session, now)
  const hasPassword = session?.hasPassword === true
  return {
    asksPassword: !isFresh && hasPassword,
    asksSignIn: !isFresh && !hasPassword,
    providers: offeredProviders(request, method === 'GET' ? path : '/account'),
    asksCode: session?.hasSecondFactor === true && !isFactorFresh(options.people, session, now),
    isRefused: false,
    passwordFault: null,
    codeFault: null,
  }
}

export async function checkProof(request: PageRequest): Promise<Proof> {
  const { options, visitor, form, language } = request
  const session = signedIn(request)
  const asked = { ...proofView(request), isRefused: true }
  if (asked.asksSignIn) return { outcome: 'refused', proof: asked }
  if (asked.asksPassword) {
    const checked = await confirmPassword(options.people, visitor, session, form.secret('password'))
    if (checked.outcome === 'throttled') return { outcome: 'throttled', answer: throttledAnswer(checked) }
    if (checked.outcome === 'refused') {
      return { outcome: 'refused', proof: { ...asked, passwordFault: text(language, 'fault.password.wrong') } }
    }
  }
  if (!asked.asksCode) return { outcome: 'proven' }
  let codeFault: string | null = null
  const answer = await checkFactor(request, FACTOR_FIELD, fault => {
    codeFault = fault
    return { kind: 'problem', status: 400 }
  })
  if (answer === null) return { outcome: 'proven' }
  if (codeFault === null) return { outcome: 'throttled', answer }
  return { outcome: 'refused', proof: { ...asked, asksPassword: false, codeFault } }
}
