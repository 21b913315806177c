/**
 * Plain conversations: what agents send all day, turns of text with calls of functions. Everything else in a request can
 * cost more, must be changed for some provider or refused, so its values are always read; see `translate/plain-body.ts`.
 */

import { Form } from '../lib/json-form.ts'

/** The large members of a request in one format. */
export interface PlainRequest {
  /** Their forms. */
  readonly form: Form
  /** For each, JSON text that stands in for it where no more matters of its content than was noted. */
  standIns(notes: readonly number[]): Readonly<Record<string, string>>
}

/** What is noted of plain members. */
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
  /** Index in ROLES of the last one. */
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
