/** Turns the client's body into the upstream's: same format by edits of the text, else through a translator. */

import { GatewayError } from '../errors.ts'
import type { ApiStandard, ModelEntry, UpstreamTarget } from '../generated/types.ts'
import { type BodyEdit, editJson } from '../lib/json-text.ts'
import type { PreparedBody } from './dispatch.ts'
import type { ChatBody } from './receive.ts'
import { ENDPOINT_PATHS } from './resolve.ts'

export type ChatFormat = Extract<ApiStandard, 'messages' | 'chat_completions'>

export interface PreparedCall extends PreparedBody {
  readonly target: UpstreamTarget
}

/** The one place where a translator between two chat formats stands. */
function translate(entry: ModelEntry, client: ChatFormat, upstream: ChatFormat): never {
  throw new GatewayError('conversion_unavailable', {
    message: `model: ${entry.id} speaks the ${upstream} format only; call POST ${ENDPOINT_PATHS[upstream]} instead of ${ENDPOINT_PATHS[client]}.`,
  })
}

function sameFormatEdits(body: ChatBody, target: UpstreamTarget, format: ChatFormat): BodyEdit[] {
  const edits: BodyEdit[] = []
  if (body.requestedName !== target.model) edits.push({ op: 'set', path: '/model', value: target.model })
  if (format === 'chat_completions' && body.streamed && !body.wantsUsage) {
    edits.push({ op: 'set', path: '/stream_options/include_usage', value: true })
  }
  return edits
}

export function prepare(body: ChatBody, entry: ModelEntry, target: UpstreamTarget, format: ChatFormat): PreparedCall {
  if (target.standard !== format) translate(entry, format, target.standard as ChatFormat)
  return { target, body: Buffer.from(editJson(body.text, sameFormatEdits(body, target, format)), 'latin1') }
}
