/**
 * Reasoning that a provider sealed, on its way through a client of another format. The client gets it in a mark of this
 * gateway's own, which says where it came from; a mark that was tampered with, and a seal of anybody else, is none.
 */

import type { JsonValue } from '../lib/json.ts'

/** What a provider wants back with its reasoning, byte for byte. */
export type Seal =
  | { readonly wire: 'messages'; readonly signature: string }
  | { readonly wire: 'messages'; readonly redacted: string }
  | { readonly wire: 'responses'; readonly id: string | null; readonly encrypted: string }

/** Makes marks, and takes apart those that it made. */
export interface Sealer {
  /** Letters, digits, `_`, `-` and `.` only. */
  seal(payload: JsonValue): string
  /** Null for anything that this gateway has not made. */
  open(text: string): JsonValue | null
}
