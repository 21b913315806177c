/** Operators' roles and permissions. Every operator route names a permission; only this file says which roles have it. */

/** Numbers stored in the column `account.operator_role`; never reuse one. */
const ROLE_CODES = { owner: 1, finance: 2, support: 3, 'read-only': 4 } as const
export type OperatorRole = keyof typeof ROLE_CODES
export const OPERATOR_ROLES = Object.keys(ROLE_CODES) as readonly OperatorRole[]

/**
 * The roles that have each permission. `read`: customers, calls, orders and transfers. `business`: revenue, costs and margins.
 * `customers`: customers' keys, sessions, notes and blocks. `money`: everything that changes a balance. `operations`:
 * maintenance, upstreams, and what all customers see. `team`: operators' roles.
 */
const GRANTS = {
  read: ['owner', 'finance', 'support', 'read-only'],
  business: ['owner', 'finance', 'read-only'],
  customers: ['owner', 'support'],
  money: ['owner', 'finance'],
  operations: ['owner'],
  team: ['owner'],
} as const satisfies Readonly<Record<string, readonly OperatorRole[]>>

export type OperatorNeed = keyof typeof GRANTS
export const OPERATOR_NEEDS = Object.keys(GRANTS) as readonly OperatorNeed[]

/** Permissions that also require a recent second-factor check. */
const ASKED_AGAIN: ReadonlySet<OperatorNeed> = new Set(['money', 'team'])

export function mayDo(role: OperatorRole | null, need: OperatorNeed): boolean {
  return role !== null && (GRANTS[need] as readonly OperatorRole[]).includes(role)
}

/** Whether a role has each permission, to decide which tabs and buttons to show. */
export function grantsOf(role: OperatorRole | null): Readonly<Record<OperatorNeed, boolean>> {
  const grants = OPERATOR_NEEDS.map(need => [need, mayDo(role, need)])
  return Object.fromEntries(grants) as Record<OperatorNeed, boolean>
}

export function isAskedAgain(need: OperatorNeed): boolean {
  return ASKED_AGAIN.has(need)
}

export function roleCode(role: OperatorRole): number {
  return ROLE_CODES[role]
}

export function isRole(text: string): text is OperatorRole {
  return Object.hasOwn(ROLE_CODES, text)
}

/** Reads a role from the columns `is_operator` and `operator_role`. Operators appointed before roles existed are owners. */
export function readRole(isOperator: boolean, code: number | null): OperatorRole | null {
  if (!isOperator) return null
  if (code === null) return 'owner'
  return OPERATOR_ROLES.find(role => ROLE_CODES[role] === code) as OperatorRole
}
