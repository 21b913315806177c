/** A person's passkeys: adding and removing them, and the data that the browser's script needs to use one. */

import { CHALLENGE_PURPOSES } from '../../accounts/passkey-challenges.ts'
import {
  arePasskeysOffered,
  beginPasskey,
  PASSKEY_NAME_CHARACTERS_MAX,
  registerPasskey,
  removePasskey,
} from '../../accounts/passkeys.ts'
import { awaitsFactor } from '../../accounts/second-factor.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { demandFactor, FACTOR_PATH, PASSKEY_CHARACTERS_MAX } from './factor-gate.ts'
import { checkProof, type ProofView } from './proof.ts'
import { codesPage, factorPage, isRequired, nextOf, ownerProof, statePage } from './second-factor.ts'

const PATH = `${FACTOR_PATH}/passkeys`
const OWN = { authentication: 'session', beforeFactor: true } as const

export const PASSKEY_PAGES: readonly Page[] = [
  { method: 'GET', path: PATH, ...OWN, purpose: 'Form for another passkey', handle: show },
  { method: 'POST', path: PATH, ...OWN, purpose: 'Adds it', handle: add },
  { method: 'POST', path: `${PATH}/options`, ...OWN, purpose: 'What a device has to sign, as JSON', handle: begin },
  { method: 'POST', path: `${PATH}/:id/remove`, ...OWN, purpose: 'Removes one', handle: remove },
]

async function show(request: PageRequest): Promise<Answer> {
  if (!arePasskeysOffered(request.options.people)) return NOT_FOUND
  return (await demandFactor(request, { again: false })) ?? addPage(request)
}

function addPage(
  request: PageRequest,
  { fault = null, proof = ownerProof(request) }: { fault?: string | null; proof?: ProofView } = {},
): Answer {
  const { language } = request
  const session = signedIn(request)
  const data = {
    name: nameIn(request) || session.device || text(language, 'passkey.name.default'),
    isFirst: !session.hasSecondFactor,
    isRequired: isRequired(request) && !session.hasSecondFactor,
    next: nextOf(request),
    nextEncoded: encodeURIComponent(nextOf(request)),
    email: session.email,
    proof,
    fault,
  }
  const isRefused = fault !== null || proof.isRefused
  const page = factorPage(request, 'passkey-add', 'passkey.add', data, isRefused ? 422 : 200)
  return { ...page, modules: ['passkey.js'] }
}

const nameIn = ({ form }: PageRequest) => form.text('name', PASSKEY_NAME_CHARACTERS_MAX)

/**
 * Adds a passkey. If it is the person's first factor, they must prove that they own the account; otherwise, they must enter an
 * existing factor.
 */
async function add(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const session = signedIn(request)
  if (!arePasskeysOffered(options.people)) return NOT_FOUND
  const answer = form.text('passkey', PASSKEY_CHARACTERS_MAX)
  if (session.hasSecondFactor) {
    const refusal = await demandFactor(request, { again: true })
    if (refusal !== null) return refusal
  } else {
    const proof = await checkProof(request)
    if (proof.outcome === 'throttled') return proof.answer
    if (proof.outcome === 'refused') return addPage(request, { proof: proof.proof })
  }
  if (answer === '') return addPage(request, { fault: text(language, 'passkey.no_script') })
  const name = nameIn(request) || text(language, 'passkey.name.default')
  const result = await registerPasskey(options.people, session, { answer, name, language })
  switch (result.outcome) {
    case 'registered':
      if (result.recoveryCodes !== null) return codesPage(request, result.recoveryCodes)
      return { kind: 'redirect', to: `${FACTOR_PATH}?done=added` }
    case 'exists':
      return { kind: 'redirect', to: FACTOR_PATH }
    case 'full':
      return addPage(request, { fault: text(language, 'passkey.full', { count: options.people.limits.passkeysMax }) })
    default:
      return addPage(request, { fault: text(language, `passkey.${result.outcome}`) })
  }
}

/**
 * Starts using or registering a passkey. People who have entered only their password may use a passkey but not register one.
 */
async function begin(request: PageRequest): Promise<Answer> {
  const { options, form } = request
  const session = signedIn(request)
  const purpose = form.choice('purpose', CHALLENGE_PURPOSES)
  if (purpose === null) return { kind: 'problem', status: 400 }
  if (purpose === 'register' && awaitsFactor(session)) return { kind: 'problem', status: 403 }
  const begun = await beginPasskey(options.people, session, purpose)
  if (begun === null) return NOT_FOUND
  return { kind: 'file', contentType: 'application/json', body: JSON.stringify(begun) }
}

async function remove(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const session = signedIn(request)
  const refusal = await demandFactor(request, { again: true })
  if (refusal !== null) return refusal
  const passkeyId = idOf(request.params.id)
  if (passkeyId === null) return NOT_FOUND
  switch (await removePasskey(options.people, session, { passkeyId, language })) {
    case 'removed':
      return { kind: 'redirect', to: `${FACTOR_PATH}?done=removed` }
    case 'last':
      return statePage(request, text(language, 'passkey.last'))
    case 'unknown':
      return NOT_FOUND
  }
}
