/** Collects what counts as input tokens in a chat request: text, images and documents. */

import { base64Of, type InputWeight, imageSize, noInput, pagesOf } from '../../conversation/input-weight.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

export function weighInput(body: JsonObject): InputWeight {
  const weight = noInput()
  for (const message of arrayOrEmpty(body.messages)) {
    weight.turns++
    if (isObject(message)) weighMessage(message, weight)
  }
  for (const tool of [...arrayOrEmpty(body.tools), ...arrayOrEmpty(body.functions)]) {
    weight.tools++
    weight.texts.push(JSON.stringify(tool))
  }
  if (isObject(body.response_format)) weight.texts.push(JSON.stringify(body.response_format))
  return weight
}

function weighMessage(message: JsonObject, weight: InputWeight): void {
  for (const text of [message.content, message.reasoning_content, message.refusal]) {
    if (typeof text === 'string') weight.texts.push(text)
  }
  for (const part of arrayOrEmpty(message.content)) if (isObject(part)) weighPart(part, weight)
  for (const call of arrayOrEmpty(message.tool_calls).filter(isObject)) weighCall(call.function ?? call.custom, weight)
  weighCall(message.function_call, weight)
}

function weighPart(part: JsonObject, weight: InputWeight): void {
  switch (part.type) {
    case 'image_url':
      weight.images.push(imageSize(base64Of(objectOrNull(part.image_url)?.url ?? part.image_url)))
      return
    case 'file':
      weight.documentPages += pagesOf(base64Of(objectOrNull(part.file)?.file_data))
      return
    case 'tool_use':
    case 'tool_result':
      weight.texts.push(JSON.stringify(part))
      return
    default:
      weight.texts.push(textOrNull(part.text) ?? textOrNull(part.refusal) ?? '')
  }
}

function weighCall(call: JsonValue | undefined, weight: InputWeight): void {
  if (!isObject(call)) return
  weight.texts.push(textOrNull(call.name) ?? '', textOrNull(call.arguments) ?? textOrNull(call.input) ?? '')
}
