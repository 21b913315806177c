/** A whole reply: read, checked, metered and renamed, then settled before it is sent. */

import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { editJson } from '../lib/json-text.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/send.ts'

export interface WholeReply {
  readonly text: string
  readonly json: JsonObject
}

/** Reads the JSON object of a 2xx reply as latin1 text. Throws GatewayError `upstream_failed` for anything else. */
export async function readReply(reply: UpstreamReply, bytesMax: number): Promise<WholeReply> {
  const bytes = await reply.readBody(bytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  const text = bytes.toString('latin1')
  const json = parseJson(text)
  if (!isObject(json)) throw new GatewayError('upstream_failed', { cause: 'the reply is not a JSON object' })
  return { text, json }
}

/** The reply with the client's name of the model; all other bytes are the upstream's. */
export function renamed(reply: WholeReply, clientModel: string): Buffer {
  if (reply.json.model === undefined || reply.json.model === clientModel) return Buffer.from(reply.text, 'latin1')
  return Buffer.from(editJson(reply.text, [{ op: 'set', path: '/model', value: clientModel }]), 'latin1')
}

/** Text of the output that a reply carries, for a count when no usage came. */
export function outputTextOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === null || typeof value !== 'object' || depth > 8) return ''
  if (Array.isArray(value)) return value.map(item => outputTextOf(item, depth + 1)).join('\n')
  return Object.entries(value)
    .filter(([key]) => OUTPUT_KEYS.has(key))
    .map(([key, inner]) => (key === 'input' ? JSON.stringify(inner) : outputTextOf(inner, depth + 1)))
    .join('\n')
}

const OUTPUT_KEYS: ReadonlySet<string> = new Set([
  'choices',
  'message',
  'content',
  'summary',
  'text',
  'thinking',
  'input',
  'reasoning_content',
  'refusal',
  'tool_calls',
  'function',
  'arguments',
])
