/** Reads stop sequences for all formats. */

import { arrayOrEmpty, type JsonValue } from '../lib/json.ts'

/** Returns the stop sequences that are strings, without empty ones and duplicates. */
export function readStopSequences(value: JsonValue | undefined): string[] {
  const all = typeof value === 'string' ? [value] : arrayOrEmpty(value)
  return [...new Set(all.filter(entry => typeof entry === 'string').filter(entry => entry !== ''))]
}

/** Leaves out sequences of white space, which the messages format refuses. */
export function visibleSequences(sequences: readonly string[]): string[] {
  return sequences.filter(sequence => sequence.trim() !== '')
}
