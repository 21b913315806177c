/** Collects what counts as input tokens in a responses request: text, images and documents. */

import { base64Of, type InputWeight, imageSize, noInput, pagesOf } from '../../conversation/input-weight.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Collects the input. Leaves out encrypted content, because only the provider that encrypted it knows its length. */
export function weighInput(body: JsonObject): InputWeight {
  const weight = noInput()
  weighTurns(body.instructions, weight)
  weighTurns(body.input, weight)
  weighTools(body.tools, weight)
  const format = objectOrNull(objectOrNull(body.text)?.format)
  if (format !== null && isObject(format.schema)) weight.texts.push(JSON.stringify(format))
  return weight
}

function weighTurns(items: JsonValue | undefined, weight: InputWeight): void {
  if (typeof items === 'string' && items !== '') {
    weight.turns++
    weight.texts.push(items)
  }
  for (const item of arrayOrEmpty(items)) {
    weight.turns++
    if (isObject(item)) weighItem(item, weight)
  }
}

function weighItem(item: JsonObject, weight: InputWeight): void {
  for (const text of [item.name, item.arguments, item.input]) {
    if (typeof text === 'string') weight.texts.push(text)
    else if (isObject(text)) weight.texts.push(JSON.stringify(text))
  }
  for (const done of [item.action, item.operation]) if (isObject(done)) weight.texts.push(JSON.stringify(done))
  for (const content of [item.content, item.output, item.summary]) weighContent(content, weight)
  weighTools(item.tools, weight)
}

function weighTools(tools: JsonValue | undefined, weight: InputWeight): void {
  for (const tool of arrayOrEmpty(tools)) {
    const inside = isObject(tool) && tool.type === 'namespace' ? arrayOrEmpty(tool.tools).length : 1
    weight.tools += inside
    weight.texts.push(JSON.stringify(tool))
  }
}

function weighContent(content: JsonValue | undefined, weight: InputWeight): void {
  if (typeof content === 'string') weight.texts.push(content)
  for (const part of arrayOrEmpty(content)) {
    if (typeof part === 'string') weight.texts.push(part)
    else if (isObject(part)) weighPart(part, weight)
  }
}

function weighPart(part: JsonObject, weight: InputWeight): void {
  switch (part.type) {
    case 'input_image':
      weight.images.push(imageSize(base64Of(textOrNull(part.image_url) ?? objectOrNull(part.image_url)?.url)))
      return
    case 'input_file': {
      const data = textOrNull(part.file_data)
      const isText = data?.startsWith('data:text/') === true
      if (isText) weight.texts.push(Buffer.from(base64Of(data) ?? '', 'base64').toString('utf8'))
      else weight.documentPages += pagesOf(base64Of(data) ?? data)
      return
    }
    default:
      for (const text of [part.text, part.refusal, part.stdout, part.stderr]) {
        if (typeof text === 'string') weight.texts.push(text)
      }
  }
}
