/** The page on which customers delete their account. It says what happens to their data and money, and asks to confirm. */

import { spellEmail } from '../../accounts/accounts.ts'
import { deleteAccount, readBalance } from '../../accounts/delete-account.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { checkProof, type ProofView, proofView } from './proof.ts'

const PATH = '/account/delete'

export const DELETE_PAGES: readonly Page[] = [
  { method: 'GET', path: PATH, authentication: 'session', purpose: 'What it means', handle: request => page(request) },
  { method: 'POST', path: PATH, authentication: 'session', purpose: 'Deletes the account', handle: submit },
  { method: 'GET', path: '/account/deleted', authentication: 'none', purpose: 'Says that it is done', handle: done },
]

async function page(
  request: PageRequest,
  { fault = null, proof = proofView(request) }: { fault?: string | null; proof?: ProofView } = {},
): Promise<Answer> {
  const { options, language, form } = request
  const { accountId, email, role } = signedIn(request)
  const isRefused = fault !== null || proof.isRefused
  return {
    kind: 'page',
    template: 'account-delete',
    title: text(language, 'delete.title'),
    section: 'account',
    status: isRefused ? 422 : 200,
    data: {
      accountId,
      email,
      balance: await readBalance(options.people, accountId),
      isOperator: role !== null,
      typed: form.text('confirm', 300),
      fault,
      proof,
    },
  }
}

async function submit(request: PageRequest): Promise<Answer> {
  const { options, visitor, form, language } = request
  const session = signedIn(request)
  if (spellEmail(form.text('confirm', 300)).toLowerCase() !== session.email.toLowerCase()) {
    return page(request, { fault: text(language, 'delete.confirm.fault') })
  }
  const proof = await checkProof(request)
  if (proof.outcome === 'throttled') return proof.answer
  if (proof.outcome === 'refused') return page(request, { proof: proof.proof })
  const { outcome } = await deleteAccount(options.people, visitor, session)
  if (outcome === 'operator') return page(request, { fault: text(language, 'delete.operator') })
  return { kind: 'redirect', to: '/account/deleted', session: 'end' }
}

function done({ language }: PageRequest): Answer {
  return {
    kind: 'page',
    template: 'account-deleted',
    title: text(language, 'delete.done'),
    data: {},
  }
}
