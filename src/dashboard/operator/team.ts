/** Operators and their roles. Nobody can change their own role, so that an owner always remains. */

import { findAccountByEmail } from '../../accounts/accounts.ts'
import { MAILS } from '../../accounts/mail-texts.ts'
import { listOperators, readAccountSummary, setRole } from '../../accounts/operator.ts'
import { isRole, OPERATOR_ROLES, type OperatorRole } from '../../accounts/roles.ts'
import { resetSecondFactor } from '../../accounts/second-factor.ts'
import { tellOwner } from '../../accounts/tell-owner.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { actorOf, operatorPage, REASON_CHARACTERS_MAX } from './frame.ts'

const TEAM = { authentication: 'operator', needs: 'team' } as const

export const TEAM_PAGES: readonly Page[] = [
  { method: 'GET', path: '/operator/team', ...TEAM, purpose: 'Operators and their roles', handle: show },
  { method: 'POST', path: '/operator/team', ...TEAM, purpose: 'Gives or takes a role', handle: change },
  { method: 'POST', path: '/operator/team/reset', ...TEAM, purpose: 'Resets a second factor', handle: reset },
]

interface Faults {
  readonly email?: string | undefined
  readonly reason?: string | undefined
}

function show(request: PageRequest): Promise<Answer> {
  return teamPage(request, {})
}

async function teamPage(request: PageRequest, faults: Faults): Promise<Answer> {
  const { options, form } = request
  const { accountId } = signedIn(request)
  const team = await listOperators(options.sql)
  const chosen = form.text('role')
  const data = {
    team: team.map(person => ({
      ...person,
      isYou: person.accountId === accountId,
      roleKey: `operator.role.${person.role}`,
      roles: choices(person.role),
    })),
    typed: {
      email: form.text('email', 254),
      reason: form.text('reason', REASON_CHARACTERS_MAX),
      // A refused form that takes a role away must not become one that gives another.
      roles: chosen === 'none' ? choices('none') : choices(isRole(chosen) ? chosen : 'support').slice(0, -1),
    },
    explained: OPERATOR_ROLES.map(role => ({ key: `operator.role.${role}`, text: `operator.team.explain.${role}` })),
    faults: { email: faults.email ?? null, reason: faults.reason ?? null },
  }
  const isRefused = faults.email !== undefined || faults.reason !== undefined
  return operatorPage(request, 'operator-team', 'team', data, isRefused ? 422 : 200)
}

function choices(chosen: OperatorRole | 'none') {
  return [...OPERATOR_ROLES, 'none' as const].map(value => ({
    value,
    key: `operator.role.${value}`,
    isChosen: value === chosen,
  }))
}

/** Returns the person named in the form and the reason, or what is wrong with either. */
async function readForm(request: PageRequest): Promise<{ accountId: number; reason: string } | Faults> {
  const { options, form, language } = request
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  const found = await findAccountByEmail(options.sql, form.text('email', 254))
  const summary = found === null ? null : await readAccountSummary(options.sql, found.accountId)
  const email =
    summary?.emailVerifiedAt == null
      ? text(language, 'operator.team.unknown')
      : summary.accountId === signedIn(request).accountId
        ? text(language, 'operator.team.self')
        : undefined
  if (summary === null || email !== undefined || reason === '') {
    return { email, reason: reason === '' ? text(language, 'operator.reason.fault') : undefined }
  }
  return { accountId: summary.accountId, reason }
}

async function change(request: PageRequest): Promise<Answer> {
  const read = await readForm(request)
  if (!('accountId' in read)) return teamPage(request, read)
  const role = request.form.choice('role', [...OPERATOR_ROLES, 'none'])
  if (role === null) return { kind: 'problem', status: 400 }
  await setRole(request.options.sql, { ...read, role: role === 'none' ? null : role, by: actorOf(request) })
  return { kind: 'redirect', to: '/operator/team?done=role' }
}

async function reset(request: PageRequest): Promise<Answer> {
  const read = await readForm(request)
  if (!('accountId' in read)) return teamPage(request, read)
  const { sql, people } = request.options
  const owner = await resetSecondFactor(sql, { ...read, by: actorOf(request) })
  // Whoever talked an operator into this may not be the owner.
  if (owner !== null) tellOwner(people, owner.email, MAILS.factorReset[owner.language])
  return { kind: 'redirect', to: '/operator/team?done=factor' }
}
