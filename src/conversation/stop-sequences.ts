/** Reads stop sequences for all formats. */

import { arrayOrEmpty, type JsonValue } from '../lib/json.ts'

/** Returns the stop sequences that are strings, without blank ones and duplicates. */
export function readStopSequences(value: JsonValue | undefined): string[] {
  const all = typeof value === 'string' ? [value] : arrayOrEmpty(value)
  const sequences = all.filter(entry => typeof entry === 'string').filter(entry => entry.trim() !== '')
  return [...new Set(sequences)]
}
