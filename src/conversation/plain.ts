/**
 * Describes plain conversations: turns of text and function calls, as agents send them all day. They can often be relayed
 * without being parsed; see `translate/plain-body.ts`. Other content is always parsed, because it may cost extra, or some
 * provider may need it changed or refused.
 */

import { Shape } from '../lib/json-shape.ts'

/** One format's rules for skipping the large members of a request, such as its messages and tools, if they are plain. */
export interface PlainRequest {
  /** The large members and the pattern that each must match to count as plain. */
  readonly shape: Shape
  /**
   * Returns a short JSON text to parse in place of each large member. The notes say what the real values contain, so far as it
   * matters to an upstream.
   */
  placeholders(notes: readonly number[]): Readonly<Record<string, string>>
}

/** Indexes into `notes`: the numbers that the scanner of plain members collects about their values. */
export const NOTE_INDEX = {
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
  return ((notes[NOTE_INDEX.roles] as number) & (1 << ROLES.indexOf(role))) !== 0
}

export function endsWithRole(notes: readonly number[], role: Role): boolean {
  return hasRole(notes, role) && notes[NOTE_INDEX.lastRole] === ROLES.indexOf(role)
}

export const ANYTHING = new Shape({ anything: true })
export const TEXT = new Shape({ text: true })
export const NAME = new Shape({ token: true, note: NOTE_INDEX.names })
export const ID = new Shape({ token: true, note: NOTE_INDEX.ids })
export const ROLE = new Shape({ words: ROLES, note: NOTE_INDEX.roles, noteLast: NOTE_INDEX.lastRole })
export const STRICT = new Shape({ anything: true, note: NOTE_INDEX.strict })
export const CACHE_BREAKPOINT = new Shape({ members: { type: new Shape({ words: ['ephemeral'] }) } })
