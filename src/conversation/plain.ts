/**
 * Plain conversations, which agents send all day: turns of text and function calls. Anything else in a request may cost
 * extra or, for some provider, must be changed or refused, so its values are always read; see `translate/plain-body.ts`.
 */

import { Form } from '../lib/json-form.ts'

/** The large members of a request in one format. */
export interface PlainRequest {
  /** The form of each of them. */
  readonly form: Form
  /** For each member, JSON text to use in its place where only the noted facts of its content matter. */
  standIns(notes: readonly number[]): Readonly<Record<string, string>>
}

/** Index of each fact that is noted of plain members. */
export const NOTE = {
  /** A bit for each of ROLES that occurs. */
  roles: 0,
  /** Length of the longest name of a tool. */
  names: 1,
  /** Length of the longest id of a call. */
  ids: 2,
  /** Number of tools that say whether they are strict. */
  strict: 3,
  /** A bit for each of the format's types of content that occurs. */
  types: 4,
  /** Index in ROLES of the last role. */
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
