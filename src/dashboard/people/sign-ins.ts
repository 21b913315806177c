/** The page that lists the ways to sign in to an account, and links and unlinks providers such as Google. */

import { listIdentities, removeIdentity } from '../../accounts/identities.ts'
import { PROVIDER_IDS, PROVIDER_LABELS, type ProviderId } from '../../accounts/identity-providers/types.ts'
import { MAILS } from '../../accounts/mail-texts.ts'
import { readAttempt, secretsOf } from '../../accounts/sign-in-attempts.ts'
import { tellOwner } from '../../accounts/tell-owner.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { throttledAnswer } from './faults.ts'
import { checkProof, type ProofView, proofView } from './proof.ts'
import { beginAt } from './providers.ts'

const PATH = '/account/sign-ins'
const OWN = { authentication: 'session' } as const

export const SIGN_INS_PAGES: readonly Page[] = [
  { method: 'GET', path: PATH, ...OWN, purpose: 'Ways to sign in', handle: request => listPage(request) },
  ...PROVIDER_IDS.flatMap((id): Page[] => [
    {
      method: 'POST',
      path: `${PATH}/${id}`,
      ...OWN,
      purpose: 'Begins to link it',
      handle: request => link(request, id),
    },
    {
      method: 'GET',
      path: `${PATH}/${id}`,
      ...OWN,
      purpose: 'The way there',
      handle: request => showWay(request, id),
    },
    {
      method: 'POST',
      path: `${PATH}/${id}/remove`,
      ...OWN,
      purpose: 'Unlinks it',
      handle: request => remove(request, id),
    },
  ]),
]

const NOTICES = ['linked', 'taken', 'removed'].flatMap(what => PROVIDER_IDS.map(id => `${what}_${id}` as const))

async function listPage(
  request: PageRequest,
  { fault = null, proof = proofView(request) }: { fault?: string | null; proof?: ProofView } = {},
): Promise<Answer> {
  const { options, language, query } = request
  const session = signedIn(request)
  const linked = await listIdentities(options.people.sql, session.accountId)
  const [what, id] = (query.choice('done', NOTICES) ?? '').split('_') as [
    'linked' | 'taken' | 'removed' | '',
    ProviderId,
  ]
  const words = what === '' ? null : text(language, `sign_ins.done.${what}`, { provider: PROVIDER_LABELS[id] })
  const isRefused = fault !== null || proof.isRefused
  return {
    kind: 'page',
    template: 'sign-ins',
    title: text(language, 'sign_ins.title'),
    section: 'account',
    status: isRefused ? 422 : 200,
    data: {
      email: session.email,
      hasPassword: session.hasPassword,
      providers: PROVIDER_IDS.map(provider => ({
        id: provider,
        label: PROVIDER_LABELS[provider],
        isOffered: options.people.providers.has(provider),
        link: linked.find(each => each.provider === provider) ?? null,
        isLast: !session.hasPassword && linked.length === 1,
      })).filter(each => each.isOffered || each.link !== null),
      notice: what === 'taken' ? null : words,
      fault: what === 'taken' ? words : fault,
      proof,
    },
  }
}

/**
 * Begins to link a provider. Redirects to a page of ours with a link to the provider, because a form that redirects to another
 * site would need an exception in the content security policy.
 */
async function link(request: PageRequest, provider: ProviderId): Promise<Answer> {
  const refusal = await refuse(request)
  if (refusal !== null) return refusal
  const { accountId } = signedIn(request)
  const begun = await beginAt(request, { provider, accountId, next: PATH })
  if (begun.outcome === 'throttled') return throttledAnswer(begun)
  if (begun.outcome === 'away') return listPage(request, { fault: text(request.language, 'providers.away') })
  return { kind: 'redirect', to: `${PATH}/${provider}`, attempt: begun.attempt }
}

async function showWay(request: PageRequest, id: ProviderId): Promise<Answer> {
  const { options, language, attempt: token } = request
  const provider = options.people.providers.get(id)
  const attempt = await readAttempt(options.people.sql, token)
  const isOurs = attempt?.provider === id && attempt.accountId === signedIn(request).accountId
  if (provider === undefined || token === null || !isOurs) return { kind: 'redirect', to: PATH }
  return {
    kind: 'page',
    template: 'sign-in-way',
    title: text(language, 'providers.link.title', { provider: PROVIDER_LABELS[id] }),
    section: 'account',
    data: { label: PROVIDER_LABELS[id], url: await provider.start(secretsOf(token)) },
    secret: true,
  }
}

async function remove(request: PageRequest, provider: ProviderId): Promise<Answer> {
  const { options, language } = request
  const refusal = await refuse(request)
  if (refusal !== null) return refusal
  const { accountId, email } = signedIn(request)
  if (!(await removeIdentity(options.people.sql, accountId, provider))) {
    const isLinked = (await listIdentities(options.people.sql, accountId)).some(each => each.provider === provider)
    return isLinked ? listPage(request, { fault: text(language, 'sign_ins.last') }) : NOT_FOUND
  }
  const label = PROVIDER_LABELS[provider]
  tellOwner(options.people, email, facts => MAILS.providerRemoved[language]({ ...facts, provider: label }))
  return { kind: 'redirect', to: `${PATH}?done=removed_${provider}` }
}

async function refuse(request: PageRequest): Promise<Answer | null> {
  const proof = await checkProof(request)
  if (proof.outcome === 'proven') return null
  return proof.outcome === 'throttled' ? proof.answer : listPage(request, { proof: proof.proof })
}
