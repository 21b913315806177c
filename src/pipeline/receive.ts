/** Reads a chat body. Validates the fields that the gateway interprets and leaves everything else as written. */

import type { PlainRequest } from '../conversation/plain.ts'
import { GatewayError } from '../errors.ts'
import { FORMATS } from '../formats/index.ts'
import type { WireName } from '../generated/types.ts'
import { type ByteText, byteText, characters, encodeText } from '../lib/byte-text.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { parseScanned, SHORT_BYTES, scanJson } from '../lib/json-parse.ts'
import { type JsonScan, JsonSizeError } from '../lib/json-scan.ts'
import { hasDuplicates, type Member, NestingError, withoutDuplicates } from '../lib/json-text.ts'
import { inTurn } from '../lib/loop-turns.ts'
import { membersIn, readOutlined, type UnreadValues } from './read-outline.ts'

export interface ChatBody {
  /** The format that the body is written in: the endpoint's own, except for bodies as in `formatOf`. */
  readonly format: WireName
  /** The body, with duplicate members removed. */
  readonly text: ByteText
  /** The bytes of `text` as received; null if duplicates were removed. */
  readonly raw: Buffer | null
  /** The parsed `text`. If `unread` is set, parsing waits until the first use. */
  readonly json: JsonObject
  /** Like `json`, but with short placeholders for members that are not parsed yet (see `PlainRequest`). */
  readonly outline: JsonObject
  /** The values that are not parsed yet; null if there are none. */
  readonly unread: UnreadValues | null
  /** Positions of the members in `text`. */
  readonly members: readonly Member[]
  /** The model name in the body. */
  readonly requestedName: string
  readonly streamed: boolean
  /** The client's output cap; null if it set none. */
  readonly outputTokensMax: number | null
  /** Whether the client asked for a usage chunk (`stream_options.include_usage`, chat completions only). */
  readonly wantsUsage: boolean
}

/** Fields that set an output cap, in order of precedence. Fields of other formats are ignored. */
const CAP_FIELDS: Readonly<Record<WireName, readonly string[]>> = {
  messages: ['max_tokens'],
  chat_completions: ['max_completion_tokens', 'max_tokens'],
  responses: ['max_output_tokens'],
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message })
}

function malformed(cause: unknown): GatewayError {
  if (!(cause instanceof SyntaxError)) throw cause
  return new GatewayError('malformed_json', {
    message: 'The request body is not valid JSON. Send one JSON object, in UTF-8, with content-type: application/json.',
  })
}

/** Scans the structure of a body. Throws GatewayError `invalid_request` if the body exceeds the limits. */
async function scan(text: ByteText, { bodyValuesMax }: BodyLimits): Promise<JsonScan> {
  try {
    return await scanJson(text, { valuesMax: bodyValuesMax })
  } catch (error) {
    if (error instanceof NestingError) throw invalid(`The request body is ${error.message}.`)
    if (error instanceof JsonSizeError) {
      throw invalid(`The request body has ${error.message}, which exceeds this service's limit. Send less.`)
    }
    throw error
  }
}

const BYTE_ORDER_MARK = encodeText('\ufeff')

export interface BodyLimits {
  /** Maximum number of JSON values in one body, at any depth. */
  readonly bodyValuesMax: number
}

export type ObjectBody = Pick<ChatBody, 'text' | 'raw' | 'json' | 'members'>
type ReadBody = Pick<ChatBody, 'text' | 'raw' | 'members' | 'outline' | 'unread'>

/**
 * Parses a body that must be an object. A large body takes many turns of the event loop. Rejects with GatewayError
 * `malformed_json` or `invalid_request`.
 */
export async function parseObject(raw: Buffer, limits: BodyLimits): Promise<ObjectBody> {
  const { text, raw: bytes, outline: json, members } = await read(raw, limits, null)
  return { text, raw: bytes, json, members }
}

/**
 * Reads an object like `parseObject`. If `plain` is given, members with the shape that it describes are checked, but not parsed
 * yet.
 */
async function read(raw: Buffer, limits: BodyLimits, plain: PlainRequest | null): Promise<ReadBody> {
  let text = raw.length <= SHORT_BYTES ? byteText(raw) : await inTurn(() => byteText(raw))
  if (text.startsWith(BYTE_ORDER_MARK)) text = text.slice(BYTE_ORDER_MARK.length)
  if (!/[^ \t\r\n]/.test(characters(text)))
    throw new GatewayError('malformed_json', { message: 'The request body is empty; send a JSON object.' })
  const bytes = raw.subarray(raw.length - text.length)
  const valuesMax = limits.bodyValuesMax
  const outlined = plain === null ? null : await readOutlined(bytes, text, { plain, valuesMax })
  if (outlined !== null) return { ...outlined, text, raw: text.length === raw.length ? raw : null }
  const scanned = await scan(text, limits)
  const json = await parseScanned(bytes, text, scanned).catch((error: unknown) => {
    throw malformed(error)
  })
  if (json === null || typeof json !== 'object' || Array.isArray(json))
    throw invalid('The request body must be a JSON object.')
  let members = membersIn(text, scanned)
  if (hasDuplicates(members)) {
    text = withoutDuplicates(text, members)
    members = membersIn(text, await scan(text, limits))
  }
  // If the text is shorter than the bytes, duplicates were removed.
  return { text, raw: text.length === raw.length ? raw : null, outline: json, unread: null, members }
}

/** Returns `model` as the client wrote it. Throws GatewayError `invalid_request` if it is missing. */
export function requestedNameOf({ model }: JsonObject): string {
  if (model === undefined) throw invalid('model: Field required')
  if (typeof model !== 'string' || model === '') throw invalid('model: Input should be a non-empty string')
  return model
}

/**
 * Returns the output cap, in tokens, from the first of these fields that is set; null if none is set. Throws GatewayError
 * `invalid_request` unless the cap is a non-negative integer.
 */
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

/** Whether the client requests a stream. Throws GatewayError `invalid_request` if the field is not a boolean. */
export function streamedOf({ stream }: JsonObject): boolean {
  if (stream !== undefined && stream !== null && typeof stream !== 'boolean')
    throw invalid('stream: Input should be true or false')
  return stream === true
}

function checkMessages({ messages }: JsonObject): void {
  if (messages === undefined) throw invalid('messages: Field required')
  if (!Array.isArray(messages)) throw invalid('messages: Input should be a list of messages')
  if (messages.length === 0) throw invalid('messages: at least one message is required')
}

/** Checks the fields of a Responses call. The input may be missing, because it can be stored at the provider. */
function checkInput({ input, background }: JsonObject): void {
  if (input !== undefined && input !== null && typeof input !== 'string' && !Array.isArray(input)) {
    throw invalid('input: Input should be a string or a list of items')
  }
  // A background response goes on after the call has ended, so its cost would be unknown.
  if (background === true) {
    throw invalid(
      'background: background responses are not supported; leave the field out, and set stream: true for long replies',
    )
  }
}

/**
 * Reads the body of a chat call. `plain` describes the members to check without parsing them; if it is null, all are parsed.
 * Rejects with GatewayError `malformed_json` or `invalid_request`.
 */
export async function readChatBody(
  bytes: Buffer,
  limits: BodyLimits,
  format: WireName,
  plain: PlainRequest | null = FORMATS[format].plain,
): Promise<ChatBody> {
  const body = await read(bytes, limits, plain)
  const { outline } = body
  const requestedName = requestedNameOf(outline)
  const written = formatOf(outline, format)
  if (written === 'responses') checkInput(outline)
  else checkMessages(outline)
  const options = outline.stream_options
  return new ReadChatBody(body, {
    format: written,
    requestedName,
    streamed: streamedOf(outline),
    outputTokensMax: tokenCapOf(outline, CAP_FIELDS[written]),
    wantsUsage: isObject(options) && options.include_usage === true,
  })
}

/**
 * Returns the format that a body is written in. Cursor's agent sends bodies of the Responses format to the Chat Completions
 * endpoint, and reads chat replies (gabrii/Cursor-Azure-GPT-5#69, litellm#34029, read 2026-11).
 */
function formatOf({ messages, input }: JsonObject, format: WireName): WireName {
  const isForeign = format === 'chat_completions' && messages === undefined && input !== undefined
  return isForeign ? 'responses' : format
}

/**
 * A class rather than an object literal with a getter: V8 gives each object that such a literal creates a hidden class of its
 * own, which refers to the getter and so keeps the body in memory until the next major collection.
 */
class ReadChatBody implements ChatBody {
  readonly format: WireName
  readonly text: ByteText
  readonly raw: Buffer | null
  readonly outline: JsonObject
  readonly unread: UnreadValues | null
  readonly members: readonly Member[]
  readonly requestedName: string
  readonly streamed: boolean
  readonly outputTokensMax: number | null
  readonly wantsUsage: boolean

  constructor({ text, raw, outline, unread, members }: ReadBody, facts: Omit<ChatBody, keyof ReadBody | 'json'>) {
    this.text = text
    this.raw = raw
    this.outline = outline
    this.unread = unread
    this.members = members
    this.format = facts.format
    this.requestedName = facts.requestedName
    this.streamed = facts.streamed
    this.outputTokensMax = facts.outputTokensMax
    this.wantsUsage = facts.wantsUsage
  }

  get json(): JsonObject {
    return this.unread === null ? this.outline : this.unread.read(this.raw)
  }
}
