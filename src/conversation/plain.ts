/**
 * Describes plain conversations: turns of text and function calls, as agents send them all day. They can often be relayed
 * without being parsed; see `translate/plain-body.ts`. Other content is always parsed, because it may cost extra, or some
 * provider may need it changed or refused.
 */

import { Form } from '../lib/json-form.ts'

/** One format's rules for skipping the large members of a request, such as its messages and tools, if they are plain. */
export interface PlainRequest {
  /** The large members and the pattern that each must match to count as plain. */
  readonly form: Form
  /**
   * Returns a short JSON text to parse in place of each large member. The notes say what the real values contain, so far as it
   * matters to an upstream.
   */
  standIns(notes: readonly number[]): Readonly<Record<string, string>>
}

/** Indexes into `notes`: the numbers that the scanner of plain members collects about their values. */
export const NOTE = {
  /** Bit mask of the ROLES that occur. */
  roles: 0,
  /** Length of the longest tool name. */
  names: 1,
  /** Length of the longest call id. */
  ids: 2,
  /** Number of tools that set `strict`, whether to true or false. */
  strict: 3,
  /** Bit mask of the content types that occur; each format numbers its own. */
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
