/** Stop sequences as every format's reader takes them. */

import { arrayOrEmpty, type JsonValue } from '../lib/json.ts'

/** Text only, without those that are empty or blank, each once. */
export function readStopSequences(value: JsonValue | undefined): string[] {
  const all = typeof value === 'string' ? [value] : arrayOrEmpty(value)
  const sequences = all.filter(entry => typeof entry === 'string').filter(entry => entry.trim() !== '')
  return [...new Set(sequences)]
}
