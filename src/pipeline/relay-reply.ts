/** A whole reply: read and made ready for the client while another upstream can still be tried. */

import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { type BodyEdit, editJson, NestingError } from '../lib/json-text.ts'
import { UpstreamFault } from '../upstream/fault.ts'
import type { UpstreamReply } from '../upstream/reply.ts'
import type { PreparedCall, ReadReply } from './prepared-call.ts'

/** `onRead` gets the bytes of a good reply. Throws GatewayError `upstream_…` for a reply that breaks off, is none, or tells of an error under status 200. */
export async function readWholeReply(
  reply: UpstreamReply,
  prepared: PreparedCall,
  bytesMax: number,
  onRead: (bytes: Buffer) => void,
): Promise<ReadReply> {
  const bytes = await reply.readBody(bytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  try {
    const read = prepared.readReply(bytes)
    onRead(bytes)
    return read
  } catch (error) {
    const value = parseJson(bytes.toString('utf8'))
    const told = value === undefined ? null : readReplyError(value, { secrets: reply.secrets })
    throw told === null ? unreadable(error) : gatewayErrorOf(told)
  }
}

/** A reply that is nested too deeply to be edited or written is the provider's fault, not ours. */
export function unreadable(error: unknown): unknown {
  const isTooDeep = error instanceof NestingError || error instanceof RangeError
  return isTooDeep ? new GatewayError('upstream_failed', { cause: 'a reply that is nested too deeply' }) : error
}

export interface WholeReply {
  /** Latin1 text of the reply's bytes. */
  readonly text: string
  readonly json: JsonObject
}

/** Reads the JSON object of a 2xx reply. Throws GatewayError `upstream_failed` for anything else. */
export async function readReply(reply: UpstreamReply, bytesMax: number): Promise<WholeReply> {
  const bytes = await reply.readBody(bytesMax).catch((error: unknown) => {
    throw new GatewayError('upstream_failed', { cause: UpstreamFault.from(error) })
  })
  const text = bytes.toString('latin1')
  const json = parseJson(text)
  if (!isObject(json)) throw new GatewayError('upstream_failed', { cause: 'the reply is not a JSON object' })
  return { text, json }
}

/**
 * The reply with the client's name of the model, and what else is to be told; all other bytes are the upstream's. Throws as
 * `unreadable` says.
 */
export function renamed(reply: WholeReply, clientModel: string, told: readonly BodyEdit[] = []): Buffer {
  const isNamed = reply.json.model === undefined || reply.json.model === clientModel
  const edits = isNamed ? told : [{ op: 'set', path: '/model', value: clientModel } as const, ...told]
  if (edits.length === 0) return Buffer.from(reply.text, 'latin1')
  try {
    return Buffer.from(editJson(reply.text, edits), 'latin1')
  } catch (error) {
    throw unreadable(error)
  }
}
