/**
 * Helpers for tests that read Responses requests: builders for input items, and a short notation for the turns that were read.
 */

import { makeEnvelopeSigner, type Seal } from '../../src/conversation/envelope.ts'
import type { ReadFacts } from '../../src/conversation/format.ts'
import { envelopePayload } from '../../src/conversation/reasoning-envelope.ts'
import type { ContentPart } from '../../src/conversation/request.ts'
import { GatewayError } from '../../src/errors.ts'
import { readRequest } from '../../src/formats/responses/read-request.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'

export const signer = makeEnvelopeSigner(parseSecretSet('KEY_PEPPERS', generateSecretSet()), '7')
export const FACTS: ReadFacts = { openEnvelope: signer.open, origin: 'here', toolsLeftOut: null }
export const envelope = (seal: Seal, origin = 'here') => signer.wrap(envelopePayload(seal, origin, []))

export const read = (body: object, facts = FACTS) => readRequest(body as JsonObject, facts)
export const requestOf = (body: object) => read(body).request

/** Turns in short notation: `user: hi`, `assistant: call c1 f {"a":1}`, `result c1 "text"`. */
export const told = (body: object) =>
  requestOf(body).turns.map(turn => `${turn.role}: ${turn.parts.map(shortOf).join(' | ')}`)
export const toldItems = (...input: object[]) => told({ input })

function shortOf(part: ContentPart): string {
  switch (part.kind) {
    case 'text':
      return part.text
    case 'image':
      return `image ${part.source.type === 'url' ? part.source.url : `${part.source.mediaType} ${part.source.data}`}`
    case 'document':
      return `document ${part.title} ${part.source.type === 'url' ? part.source.url : part.source.data}`
    case 'reasoning':
      return `reasoning ${JSON.stringify(part.texts)}${part.seal === null ? '' : ` ${JSON.stringify(part.seal)}`}`
    case 'gap':
      return 'gap'
    case 'call':
      return `call ${part.id} ${part.name} ${JSON.stringify(part.input)}${part.signature === null ? '' : ` signed ${part.signature}`}`
    case 'result':
      return `result ${part.id}${part.isError ? ' failed' : ''} ${JSON.stringify(part.content.map(shortOf).join(' | '))}`
  }
}

export function refusal(body: object, facts = FACTS): GatewayError {
  try {
    read(body, facts)
  } catch (error) {
    if (error instanceof GatewayError) return error
    throw error
  }
  throw new Error('the request was not refused')
}

export const user = (content: unknown) => ({ role: 'user', content })
export const assistant = (text: string) => ({
  type: 'message',
  role: 'assistant',
  id: 'msg_1',
  content: [{ type: 'output_text', text }],
})
export const call = (id: string, name = 'f', args = '{}') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name,
  arguments: args,
})
export const output = (id: string, text: unknown = 'ok') => ({
  type: 'function_call_output',
  call_id: id,
  output: text,
})
export const fn = (name: string, rest: object = {}) => ({
  type: 'function',
  name,
  parameters: { type: 'object' },
  ...rest,
})
