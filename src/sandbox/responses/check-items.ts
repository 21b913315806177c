/** Refuses input items that the responses format refuses, in its provider's own words. */

import { missing, wrongType, wrongValue } from '../chat/refusals.ts'
import { isObject, type Json, type JsonObject, listOf, textOf } from '../json.ts'
import { invalid, type ModelFacts, ProviderError } from '../model.ts'
import { pictureInfo } from '../picture-info.ts'
import { isSeal } from './seal.ts'

const ROLES = ['assistant', 'system', 'developer', 'user']
const FOREIGN_PARTS = ['text', 'image_url', 'image', 'tool_use', 'tool_result', 'thinking', 'input_audio_url']
const PARTS = [
  'input_text',
  'input_image',
  'output_text',
  'refusal',
  'input_file',
  'computer_screenshot',
  'summary_text',
]
/** Prefixes that item ids must have, by item type. */
const ID_STARTS: Readonly<Record<string, string>> = {
  message: 'msg',
  function_call: 'fc',
  custom_tool_call: 'ctc',
  reasoning: 'rs',
}
const LENGTH_MAX = 64

/** Checks one input item. `stored` means that the provider stores its replies, so that an id alone can refer to an item. */
export function checkItem(item: Json, at: string, facts: ModelFacts, { stored }: { stored: boolean }): void {
  if (!isObject(item)) throw wrongType(at, 'an object', item)
  const type = textOf(item.type) || 'message'
  checkId(item, type, at)
  if (type === 'function_call' || type === 'custom_tool_call') checkCall(item, type, at)
  if (type.endsWith('_call_output')) {
    if (typeof item.call_id !== 'string') throw missing(`${at}.call_id`)
    if (item.output === undefined) throw missing(`${at}.output`)
  }
  if (type === 'reasoning') checkReasoningItem(item, at, facts, stored)
  if (type === 'message') checkMessage(item, at, facts)
}

function checkId({ id }: JsonObject, type: string, at: string): void {
  const start = ID_STARTS[type]
  if (start === undefined || id === undefined || id === null) return
  if (typeof id !== 'string') throw wrongType(`${at}.id`, 'a string', id)
  if (id.length > LENGTH_MAX) throw tooLong(`${at}.id`, id)
  if (id.startsWith(start)) return
  throw invalid(`Invalid '${at}.id': '${id}'. Expected an ID that begins with '${start}'.`, { param: `${at}.id` })
}

function checkCall(item: JsonObject, type: string, at: string): void {
  const text = type === 'function_call' ? 'arguments' : 'input'
  for (const field of ['call_id', 'name', text]) {
    const value = item[field]
    if (typeof value !== 'string')
      throw value === undefined ? missing(`${at}.${field}`) : wrongType(`${at}.${field}`, 'a string', value)
    if (field !== text && value.length > LENGTH_MAX) throw tooLong(`${at}.${field}`, value)
  }
}

function tooLong(path: string, value: string) {
  return invalid(
    `Invalid '${path}': string too long. Expected a string with maximum length ${LENGTH_MAX}, but got a string with length ${value.length} instead.`,
    { param: path, code: 'string_above_max_length' },
  )
}

function checkReasoningItem(item: JsonObject, at: string, facts: ModelFacts, stored: boolean): void {
  if (!Array.isArray(item.summary)) throw missing(`${at}.summary`)
  if (facts.reasoningItems === 'text') return
  const seal = item.encrypted_content
  if (typeof seal === 'string') {
    if (isSeal(seal)) return
    throw invalid(
      `The encrypted content for item ${item.id} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`,
      { code: 'invalid_encrypted_content' },
    )
  }
  if (stored || typeof item.id !== 'string') return
  throw new ProviderError(
    404,
    'invalid_request_error',
    `Item with id '${item.id}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
    { param: 'input' },
  )
}

/**
 * Requires that each reasoning item is followed by another item produced by the model. For models that send reasoning as text,
 * requires instead that reasoning precedes every tool call.
 */
export function checkReasoningOrder(items: readonly JsonObject[], { reasoningItems }: ModelFacts): void {
  let reasoned = false
  for (const [index, item] of items.entries()) {
    const isOwn = isModels(item)
    if (item.type === 'reasoning') {
      const next = items[index + 1]
      if (reasoningItems !== 'text' && (next === undefined || !isModels(next))) {
        throw invalid(`Item '${item.id}' of type 'reasoning' was provided without its required following item.`, {
          param: 'input',
        })
      }
      reasoned ||= listOf(item.content).some(part => isObject(part) && textOf(part.text) !== '')
    } else if (!isOwn) reasoned = false
    if (reasoningItems !== 'text' || reasoned || !['function_call', 'custom_tool_call'].includes(String(item.type)))
      continue
    throw invalid('The `reasoning_text` in the thinking mode must be passed back to the API.', { param: 'input' })
  }
}

/** Whether the model produced the item. */
function isModels({ type, role }: JsonObject): boolean {
  return role === 'assistant' || ['reasoning', 'function_call', 'custom_tool_call'].includes(String(type))
}

function checkMessage(item: JsonObject, at: string, facts: ModelFacts): void {
  if (typeof item.role !== 'string') throw missing(`${at}.role`)
  if (!ROLES.includes(item.role)) throw wrongValue(`${at}.role`, item.role, ROLES)
  if (item.content === undefined || item.content === null) throw missing(`${at}.content`)
  for (const [index, part] of listOf(item.content).entries()) {
    const place = `${at}.content[${index}]`
    if (isObject(part) && item.role === 'assistant' && textOf(part.type).startsWith('input_')) {
      throw wrongValue(`${place}.type`, part.type, ['output_text', 'refusal'])
    }
    checkPart(part, place, facts)
  }
}

function checkPart(part: Json, at: string, facts: ModelFacts): void {
  if (!isObject(part)) throw wrongType(at, 'an object', part)
  if (FOREIGN_PARTS.includes(String(part.type))) throw wrongValue(`${at}.type`, part.type, PARTS)
  if (part.type !== 'input_image') return
  if (!facts.vision) throw invalid('This model does not support image inputs.', { param: at })
  if (typeof part.image_url !== 'string') {
    if (part.file_id === undefined) throw missing(`${at}.image_url`)
    return
  }
  if (/^https?:\/\//.test(part.image_url)) return
  const base64 = /^data:[^,]*;base64,([A-Za-z0-9+/]+={0,2})$/.exec(part.image_url)?.[1]
  if (base64 !== undefined && pictureInfo(Buffer.from(base64, 'base64')) !== null) return
  throw invalid(
    'The image data you provided does not represent a valid image. Please check your input and try again.',
    {
      param: at,
      code: 'invalid_base64',
    },
  )
}

/** Throws if a call has no matching output, or an output no matching call. `items` includes the items of earlier responses. */
export function checkOutputs(items: readonly JsonObject[]): void {
  const idsOf = (...types: string[]) =>
    items.filter(({ type }) => types.includes(String(type))).map(item => String(item.call_id))
  const calls = idsOf('function_call', 'custom_tool_call')
  const outputs = idsOf('function_call_output', 'custom_tool_call_output')
  const stray = outputs.find(id => !calls.includes(id))
  if (stray !== undefined) {
    throw invalid(`No tool call found for function call output with call_id ${stray}.`, { param: 'input' })
  }
  const open = calls.find(id => !outputs.includes(id))
  if (open !== undefined) throw invalid(`No tool output found for function call ${open}.`, { param: 'input' })
}
