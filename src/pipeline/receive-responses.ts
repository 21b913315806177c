/** Reads the body of a call in the responses format: only what the gateway interprets is checked. */

import { GatewayError } from '../errors.ts'
import { type BodyLimits, type ObjectBody, parseObject, requestedNameOf, streamedOf, tokenCapOf } from './receive.ts'

export interface ResponsesBody extends ObjectBody {
  /** `model` as the client meant it, in Unicode. */
  readonly requestedName: string
  readonly streamed: boolean
  /** Cap on the output that the client set; null when it set none. */
  readonly outputTokensMax: number | null
}

/** Rejects with GatewayError `malformed_json` or `invalid_request`. */
export async function readResponsesBody(bytes: Buffer, limits: BodyLimits): Promise<ResponsesBody> {
  const { text, raw, json, members } = await parseObject(bytes, limits)
  const requestedName = requestedNameOf(json)
  const { input, background } = json
  if (input !== undefined && input !== null && typeof input !== 'string' && !Array.isArray(input)) {
    throw new GatewayError('invalid_request', { message: 'input: Input should be a text or a list of items' })
  }
  // What runs in the background ends after the call: nobody could say what it cost.
  if (background === true) {
    throw new GatewayError('invalid_request', {
      message:
        'background: responses in the background are not served; leave the field out, and set stream: true for long ones',
    })
  }
  return {
    text,
    raw,
    json,
    members,
    requestedName,
    streamed: streamedOf(json),
    outputTokensMax: tokenCapOf(json, ['max_output_tokens']),
  }
}
