/** Finds the JSON schema in a prompt. Clients write it there when a model has no parameter for structured replies. */

import { isObject, type Json } from '../json.ts'
import type { OutputForm } from '../model.ts'

const LIMITS = { characters: 400_000, schemas: 20 } as const

/** Matches `… JSON … schema: {`, with or without a fence or line break before the schema. */
const SCHEMA = /\bschema\b[^{}]{0,120}(?=\{)/gi
const WANTS_JSON =
  /\b(?:reply|respond|answer|output|return|formatted|conform\w*|match\w*|valid)\b[^{}]{0,160}\bJSON\b|\bJSON\b[^{}]{0,160}\b(?:reply|respond|answer|output|return|conform\w*|match\w*|valid)\b/i
const WANTS_OBJECT = /\b(?:reply|respond|answer)\b[^.\n]{0,40}\bJSON object\b[^.\n]{0,40}\b(?:nothing else|only)\b/i

/**
 * Returns the form that the reply must have. A schema in the request's own parameter (`asked`) wins, then a form that the
 * prompt's texts request, then any other `asked` form.
 */
export function formInWords(asked: OutputForm, texts: readonly string[]): OutputForm {
  if (asked.kind === 'schema') return asked
  for (const text of texts.toReversed()) {
    const sample = text.slice(-LIMITS.characters)
    if (asked.kind === 'text' && !WANTS_JSON.test(sample)) continue
    const schema = lastSchema(sample)
    if (schema !== null) return { kind: 'schema', schema }
    if (WANTS_OBJECT.test(sample)) return { kind: 'object' }
  }
  return asked
}

function lastSchema(text: string): Json | null {
  const starts = [...text.matchAll(SCHEMA)].map(match => match.index + match[0].length)
  for (const start of starts.slice(-LIMITS.schemas).toReversed()) {
    const schema = objectAt(text, start)
    if (isObject(schema) && ['type', 'properties', '$ref', 'anyOf', 'allOf', 'enum'].some(key => key in schema))
      return schema
  }
  return null
}

/** Parses the JSON object that begins at `start`; null when it is incomplete. */
function objectAt(text: string, start: number): Json | null {
  let depth = 0
  let inString = false
  for (let index = start; index < text.length; index += 1) {
    const character = text[index]
    if (inString) {
      if (character === '\\') index += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{') depth += 1
    else if (character === '}') {
      depth -= 1
      if (depth === 0) return parsed(text.slice(start, index + 1))
    }
  }
  return null
}

function parsed(text: string): Json | null {
  try {
    return JSON.parse(text) as Json
  } catch {
    return null
  }
}
