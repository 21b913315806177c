/**
 * Converts tools with free-form text input to functions with a single string parameter, because not all formats have free-form
 * tools, and calls of these functions back to text.
 */

import { isObject, type JsonObject, objectOrNull, parseJson, textOrNull } from '../lib/json.ts'
import type { ToolDefinition } from './request.ts'

/** Name of the parameter that holds the entire input of a free-form tool. */
export const FREEFORM_INPUT = 'input'

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { [FREEFORM_INPUT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [FREEFORM_INPUT],
  additionalProperties: false,
}

/**
 * Converts a free-form tool; `description` and `format` as in the responses format. Its grammar is added to the description,
 * because not all formats can enforce it.
 */
export function freeformDefinition(tool: JsonObject): Omit<ToolDefinition, 'name'> {
  const format = objectOrNull(tool.format)
  const description = textOrNull(tool.description)
  const described = [description, grammarNote(format)].filter(text => text !== null).join('\n\n')
  return {
    description: described === '' ? null : described,
    schema: SCHEMA,
    strict: false,
    freeform: { format, description },
  }
}

function grammarNote(format: JsonObject | null): string | null {
  const definition = textOrNull(format?.definition)
  if (format?.type !== 'grammar' || definition === null) return null
  const syntax = format.syntax === 'regex' ? 'regular expression' : `${textOrNull(format.syntax) ?? 'lark'} grammar`
  return `The input must match this ${syntax}:\n${definition}`
}

/**
 * Returns the input for a free-form tool: the single string among a call's arguments. Some models rename that parameter, and
 * some write the text without any JSON around it.
 */
export function freeformText(json: string): string {
  const value = parseJson(json)
  if (typeof value === 'string') return value
  if (!isObject(value)) return json
  const named = value[FREEFORM_INPUT]
  if (typeof named === 'string') return named
  const texts = Object.values(value).filter(member => typeof member === 'string')
  if (texts.length === 1) return texts[0] as string
  return Object.keys(value).length === 0 ? '' : json
}
