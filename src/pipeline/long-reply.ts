/** Reads long non-streamed replies of chat models in many turns of the event loop, without their log probabilities. */

import { type Shortened, withoutLogprobsInTurns } from '../conversation/logprobs.ts'
import { byteText, toBuffer } from '../lib/byte-text.ts'
import { scanJson } from '../lib/json-parse.ts'
import { inTurn } from '../lib/loop-turns.ts'
import type { PipelineLimits } from './call.ts'
import type { PreparedCall, ReadReply } from './prepared-call.ts'

/** Shorter replies, in bytes, are read at once. */
export const LONG_BYTES = 256 * 1024

type ReplyLimits = Pick<PipelineLimits, 'replyValuesMax'>

/** A reply whose log probabilities have been set aside. */
export interface ShortReply {
  readonly bytes: Buffer
  /** Puts them back into what has become of the reply; a body in another format has no place for them. */
  restore(body: ReadReply['body']): ReadReply['body']
}

/** Rejects with NestingError or JsonSizeError if the reply is nested too deeply or has too many values to be parsed. */
export async function shortReply(bytes: Buffer, { replyValuesMax }: ReplyLimits): Promise<ShortReply> {
  if (bytes.length <= LONG_BYTES) return { bytes, restore: body => body }
  const text = await inTurn(() => byteText(bytes))
  const short = await withoutLogprobsInTurns(text)
  await scanJson(short?.text ?? text, { valuesMax: replyValuesMax })
  return short === null ? { bytes, restore: body => body } : { bytes: toBuffer(short.text), restore: restorer(short) }
}

function restorer({ restore }: Shortened): ShortReply['restore'] {
  return body => restore(Buffer.isBuffer(body) ? byteText(body) : body)
}

/** Reads a reply with `read`; a long one without its log probabilities, and in turns. */
export function readInTurns(
  bytes: Buffer,
  read: PreparedCall['readReply'],
  limits: ReplyLimits,
): ReadReply | Promise<ReadReply> {
  return bytes.length <= LONG_BYTES ? read(bytes) : readLong(bytes, read, limits)
}

async function readLong(bytes: Buffer, read: PreparedCall['readReply'], limits: ReplyLimits): Promise<ReadReply> {
  const short = await shortReply(bytes, limits)
  const reply = await inTurn(() => read(short.bytes))
  const body = await inTurn(() => short.restore(reply.body))
  return { ...reply, body, shortened: short.bytes }
}
