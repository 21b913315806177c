/**
 * Converts tools with free-form text input to functions with a single string parameter, because other formats lack free-form
 * tools.
 */

import type { ToolDefinition } from '../../conversation/request.ts'
import { type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Name of the parameter that holds the entire input of a free-form tool. */
export const FREEFORM_INPUT = 'input'

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { [FREEFORM_INPUT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [FREEFORM_INPUT],
  additionalProperties: false,
}

/** Converts a `custom` tool. Its grammar is added to the description, because other formats cannot enforce it. */
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
