/**
 * Rejects invalid Chat Completions messages, as providers do: wrong roles, contents or parts, and tool calls without results.
 */

import { isObject, type Json, type JsonObject, listOf } from '../json.ts'
import { invalid, type ModelFacts } from '../model.ts'
import { pictureInfo } from '../picture-info.ts'
import { emptyArray, missing, tooLong, unknownParameter, wrongType, wrongValue } from './refusals.ts'

const ROLES = ['system', 'assistant', 'user', 'function', 'tool', 'developer']
const PARTS = ['text', 'image_url', 'input_audio', 'refusal', 'audio', 'file']

/** Throws ProviderError for the first mistake. */
export function checkChatMessages(body: JsonObject, facts: ModelFacts): void {
  const messages = body.messages
  if (messages === undefined) throw missing('messages')
  if (!Array.isArray(messages)) throw wrongType('messages', 'an array of objects', messages)
  if (messages.length === 0) throw emptyArray('messages')
  for (const [index, message] of messages.entries()) checkMessage(message, `messages[${index}]`, facts)
  checkAnswers(messages as JsonObject[])
  const form = body.response_format
  if (isObject(form) && form.type === 'json_object' && !/json/i.test(JSON.stringify(messages))) {
    throw invalid(
      "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
      { param: 'messages' },
    )
  }
}

function checkMessage(message: Json, at: string, facts: ModelFacts): void {
  if (!isObject(message)) throw wrongType(at, 'an object', message)
  const { role, content } = message
  if (role === undefined) throw missing(`${at}.role`)
  if (typeof role !== 'string' || !ROLES.includes(role)) throw wrongValue(`${at}.role`, role, ROLES)
  if (facts.refuses?.includes(`role:${role}`))
    throw wrongValue(
      `${at}.role`,
      role,
      ROLES.filter(name => name !== role),
    )
  for (const field of ['cache_control', 'output_config', 'stop_reason']) {
    if (Object.hasOwn(message, field)) throw unknownParameter(`${at}.${field}`)
  }
  if (role === 'assistant') checkCalls(message, at)
  const mayBeEmpty =
    role === 'assistant' && ['tool_calls', 'function_call', 'refusal', 'audio'].some(key => isSet(message[key]))
  if (content === undefined || content === null) {
    if (mayBeEmpty) return
    throw invalid("Invalid value for 'content': expected a string, got null.", { param: `${at}.content` })
  }
  if (typeof content === 'string') return
  if (!Array.isArray(content)) throw wrongType(`${at}.content`, 'one of a string or array of objects', content)
  if (content.length === 0) throw emptyArray(`${at}.content`)
  for (const [index, part] of content.entries()) checkPart(part, `${at}.content[${index}]`, role, facts)
}

function isSet(value: Json | undefined): boolean {
  return value !== undefined && value !== null
}

function checkPart(part: Json, at: string, role: string, facts: ModelFacts): void {
  if (!isObject(part)) throw wrongType(at, 'an object', part)
  if (typeof part.type !== 'string' || !PARTS.includes(part.type)) throw wrongValue(`${at}.type`, part.type, PARTS)
  if (Object.hasOwn(part, 'cache_control')) throw unknownParameter(`${at}.cache_control`)
  if (part.type === 'text') {
    if (typeof part.text !== 'string') throw missing(`${at}.text`)
    return
  }
  if (part.type === 'file' && facts.refuses?.includes('part:file'))
    throw invalid('Invalid content part type: file', { param: at })
  if (part.type === 'file' && !isObject(part.file)) throw missing(`${at}.file`)
  if (part.type !== 'image_url') return
  if (role !== 'user') {
    throw invalid(
      `Image URLs are only allowed for messages with role 'user', but this message with role '${role}' contains an image URL.`,
      {
        param: at,
        code: 'invalid_value',
      },
    )
  }
  if (!facts.vision)
    throw invalid('Invalid content type. image_url is only supported by certain models.', { param: at })
  // Models that refuse files take documents in the place of images.
  if (facts.refuses?.includes('part:file') && isPdf(part)) return
  checkPicture(part.image_url, `${at}.image_url`)
}

export function isPdf({ image_url: image }: JsonObject): boolean {
  return isObject(image) && typeof image.url === 'string' && image.url.startsWith('data:application/pdf;base64,')
}

function checkPicture(image: Json | undefined, at: string): void {
  if (!isObject(image)) throw wrongType(at, 'an object', image)
  if (typeof image.url !== 'string') throw missing(`${at}.url`)
  if (/^https?:\/\//.test(image.url)) return
  const base64 = /^data:[\w./+-]+(?:;[\w=.-]+)*;base64,([A-Za-z0-9+/]+={0,2})$/.exec(image.url)?.[1]
  if (base64 === undefined) throw invalid('Invalid base64 image_url.', { param: at, code: 'invalid_base64' })
  if (pictureInfo(Buffer.from(base64, 'base64')) !== null) return
  throw invalid(
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
    { param: at, code: 'image_parse_error' },
  )
}

function checkCalls(message: JsonObject, at: string): void {
  const calls = message.tool_calls
  if (calls === undefined || calls === null) return
  if (!Array.isArray(calls)) throw wrongType(`${at}.tool_calls`, 'an array of objects', calls)
  if (calls.length === 0) throw emptyArray(`${at}.tool_calls`)
  for (const [index, call] of calls.entries()) {
    const path = `${at}.tool_calls[${index}]`
    if (!isObject(call)) throw wrongType(path, 'an object', call)
    if (typeof call.id !== 'string' || call.id === '') throw missing(`${path}.id`)
    if (call.id.length > 64) throw tooLong(`${path}.id`, call.id.length)
    if (call.type === 'custom') continue
    if (call.type !== 'function') throw wrongValue(`${path}.type`, call.type, ['function', 'custom'])
    const made = call.function
    if (!isObject(made)) throw missing(`${path}.function`)
    if (typeof made.name !== 'string' || made.name === '') throw missing(`${path}.function.name`)
    if (typeof made.arguments !== 'string') throw wrongType(`${path}.function.arguments`, 'a string', made.arguments)
  }
}

/** Throws unless every assistant message with tool calls is directly followed by one tool message for each call. */
function checkAnswers(messages: readonly JsonObject[]): void {
  let open = new Set<string>()
  let openedAt = 0
  const refuseOpen = () => {
    if (open.size === 0) return
    throw invalid(
      `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
      { param: `messages.[${openedAt}].role` },
    )
  }
  let known = new Set<string>()
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id
      if (typeof id !== 'string') {
        throw invalid("Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.", {
          param: `messages.[${index}].tool_call_id`,
        })
      }
      if (!known.has(id)) {
        throw invalid(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          { param: `messages.[${index}].role` },
        )
      }
      open.delete(id)
      continue
    }
    refuseOpen()
    open = new Set(
      listOf(message.tool_calls)
        .filter(isObject)
        .map(call => String(call.id)),
    )
    known = new Set(open)
    openedAt = index
  }
  refuseOpen()
}
