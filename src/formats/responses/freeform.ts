/** Tools that take any text, as functions of one text: models of the other formats know no others. */

import type { ToolDefinition } from '../../conversation/request.ts'
import { type JsonObject, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Parameter that stands for the whole input. */
export const FREEFORM_INPUT = 'input'

const SCHEMA: JsonObject = {
  type: 'object',
  properties: { [FREEFORM_INPUT]: { type: 'string', description: 'The whole input of the tool, as plain text.' } },
  required: [FREEFORM_INPUT],
  additionalProperties: false,
}

/** A `custom` tool. Its grammar is told in the description, as nobody else can hold the model to it. */
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
