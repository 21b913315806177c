/**
 * Describes plain conversations: turns of text and function calls, as agents send them all day. Anything else in a request may
 * cost extra, or have to be changed or refused for some provider, so its values are always read; see `translate/plain-body.ts`.
 */

import { Form } from '../lib/json-form.ts'

/** Which of a request's large members (such as its messages and tools) count as plain in one format. */
export interface PlainRequest {
  /** The form that a member must have to count as plain. */
  readonly form: Form
  /**
   * Returns short JSON for each large member. It is read instead of the member where only the facts listed in NOTE matter,
   * because reading it yields the same facts.
   */
  standIns(notes: readonly number[]): Readonly<Record<string, string>>
}

/** Index, in `notes`, of each fact noted about plain members. */
export const NOTE = {
  /** Bit mask of the ROLES that occur. */
  roles: 0,
  /** Length of the longest tool name. */
  names: 1,
  /** Length of the longest call id. */
  ids: 2,
  /** Number of tools that set `strict`, whether to true or false. */
  strict: 3,
  /** Bit mask of the format's content types that occur. */
  types: 4,
  /** Index in ROLES of the last message's role. */
  lastRole: 5,
} as const

export const ROLES = ['user', 'assistant', 'tool', 'system', 'developer'] as const

export type Role = (typeof ROLES)[number]

export function hasRole(notes: readonly number[], role: Role): boolean {
  return ((notes[NOTE.roles] as number) & (1 << ROLES.indexOf(role))) !== 0
}

export function endsWithRole(notes: readonly number[], role: Role): boolean {
  return hasRole(notes, role) && notes[NOTE.lastRole] === ROLES.indexOf(role)
}

export const ANYTHING = new Form({ anything: true })
export const TEXT = new Form({ text: true })
export const NAME = new Form({ token: true, note: NOTE.names })
export const ID = new Form({ token: true, note: NOTE.ids })
export const ROLE = new Form({ words: ROLES, note: NOTE.roles, noteLast: NOTE.lastRole })
export const STRICT = new Form({ anything: true, note: NOTE.strict })
export const CACHE_MARK = new Form({ members: { type: new Form({ words: ['ephemeral'] }) } })
