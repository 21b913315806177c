/** Reads a chat body: what the engine interprets is checked, everything else stays as it was written. */

import { isAscii } from 'node:buffer'
import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import {
  hasDuplicates,
  type Member,
  memberNamed,
  membersOf,
  NestingError,
  withoutDuplicates,
} from '../lib/json-text.ts'

export interface ChatBody {
  /** The body as a latin1 string of its UTF-8 bytes, without members written twice. */
  readonly text: string
  /** The bytes of `text` as they came; null when some were left out. */
  readonly raw: Buffer | null
  /** No byte of the body is above 127: `json` is in Unicode as it is. */
  readonly isAscii: boolean
  /** Parsed from `text`: strings hold UTF-8 bytes, so only ASCII values may be compared. */
  readonly json: JsonObject
  /** The members of `text`. */
  readonly members: readonly Member[]
  /** `model` as the client meant it, in Unicode. */
  readonly requestedName: string
  readonly streamed: boolean
  /** Cap on the output that the client set; null when it set none. */
  readonly outputTokensMax: number | null
  /** A chat client that asked for the usage chunk. */
  readonly wantsUsage: boolean
}

const MAX_TOKENS_FIELDS = ['max_completion_tokens', 'max_tokens'] as const

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message })
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    throw new GatewayError('malformed_json', {
      message:
        'The request body is not valid JSON. Send one JSON object, in UTF-8, with content-type: application/json.',
    })
  }
}

function placesOf(text: string): readonly Member[] {
  try {
    return membersOf(text)
  } catch (error) {
    if (!(error instanceof NestingError)) throw error
    throw invalid(`The request body is ${error.message}.`)
  }
}

export type ObjectBody = Pick<ChatBody, 'text' | 'raw' | 'json' | 'members'>

/** Parses a body and refuses all but an object. Throws GatewayError `malformed_json` or `invalid_request`. */
export function parseObject(raw: Buffer): ObjectBody {
  let text = raw.toString('latin1')
  if (text.startsWith('\u00ef\u00bb\u00bf')) text = text.slice(3)
  if (text.trim() === '')
    throw new GatewayError('malformed_json', { message: 'The request body is empty; send a JSON object.' })
  const json = parse(text)
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw invalid('The request body must be a JSON object.')
  let members = placesOf(text)
  if (hasDuplicates(members)) {
    text = withoutDuplicates(text, members)
    members = membersOf(text)
  }
  // What was left out has made it shorter.
  return { text, raw: text.length === raw.length ? raw : null, json, members }
}

/** `model` in Unicode. Throws GatewayError `invalid_request` without one. */
export function requestedNameOf(text: string, json: JsonObject, members: readonly Member[]): string {
  const value = json.model
  if (value === undefined) throw invalid('model: Field required')
  if (typeof value !== 'string' || value === '') throw invalid('model: Input should be a non-empty string')
  if (/^[\x20-\x7e]*$/.test(value)) return value
  const member = memberNamed(members, 'model') as Member
  return JSON.parse(Buffer.from(text.slice(member.valueStart, member.valueEnd), 'latin1').toString('utf8')) as string
}

/** The first cap on the output among the fields, in tokens. Throws GatewayError `invalid_request` for one that is no count. */
export function tokenCapOf(json: JsonObject, fields: readonly string[]): number | null {
  for (const field of fields) {
    const value = json[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isInteger(value) || value < 0) {
      throw invalid(`${field}: Input should be a whole number of tokens, 0 or more`)
    }
    return value
  }
  return null
}

/** Whether the client wants a stream. Throws GatewayError `invalid_request` for anything but a boolean. */
export function streamedOf({ stream }: JsonObject): boolean {
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw invalid('stream: Input should be true or false')
  return stream === true
}

/** Reads the body of a chat call in either format. Throws GatewayError `malformed_json` or `invalid_request`. */
export function readChatBody(bytes: Buffer): ChatBody {
  const { text, raw, json, members } = parseObject(bytes)
  const requestedName = requestedNameOf(text, json, members)
  const { messages } = json
  if (messages === undefined) throw invalid('messages: Field required')
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a list of messages')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
  const options = json.stream_options
  const wantsUsage = isObject(options) && options.include_usage === true
  return {
    text,
    raw,
    isAscii: isAscii(bytes),
    json,
    members,
    requestedName,
    streamed: streamedOf(json),
    outputTokensMax: tokenCapOf(json, MAX_TOKENS_FIELDS),
    wantsUsage,
  }
}

/** The body's values in Unicode, for those who read or move texts. */
export function unicodeJson(body: ChatBody): JsonObject {
  if (body.isAscii) return body.json
  return JSON.parse(Buffer.from(body.text, 'latin1').toString('utf8')) as JsonObject
}
