/**
 * Edits that restore the client's tool names in a response that passes through. Names occur in the response's calls, and in the
 * tools that it repeats from the request.
 */

import type { ToolNames } from '../../conversation/names.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'

/** Returns the edits that restore the names in a response. `path`: JSON pointer to the response. */
export function namesInResponse(response: JsonObject, path: string, names: ToolNames): BodyEdit[] {
  const { output, tools, tool_choice } = response
  return [
    ...namesInList(output, `${path}/output`, names),
    ...namesInList(tools, `${path}/tools`, names),
    ...(isObject(tool_choice) ? namesIn(tool_choice, `${path}/tool_choice`, names) : []),
  ]
}

/** Returns the edits that restore the names in an item, a tool or a tool choice. `path`: JSON pointer to it. */
export function namesIn(value: JsonObject, path: string, names: ToolNames): BodyEdit[] {
  const { name, tools } = value
  const clientName = typeof name === 'string' ? names.client(name) : name
  const own: BodyEdit[] = clientName === name ? [] : [{ op: 'set', path: `${path}/name`, value: clientName }]
  return [...own, ...namesInList(tools, `${path}/tools`, names)]
}

function namesInList(values: JsonValue | undefined, path: string, names: ToolNames): BodyEdit[] {
  return arrayOrEmpty(values).flatMap((value, index) =>
    isObject(value) ? namesIn(value, `${path}/${index}`, names) : [],
  )
}
