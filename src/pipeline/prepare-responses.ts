/**
 * Prepares a Responses call for a provider that speaks Responses too: bytes pass through unchanged, except where the provider's
 * dialect requires changes.
 */

import { outputTextOf } from '../conversation/output-text.ts'
import { readReplyError } from '../conversation/reply-error.ts'
import { gatewayErrorOf, readFailedError } from '../conversation/upstream-error.ts'
import { GatewayError } from '../errors.ts'
import { ResponsesRelay } from '../formats/responses/relay.ts'
import { relayEdits } from '../formats/responses/relay-whole.ts'
import { reportOf } from '../formats/responses/usage.ts'
import { byteText, parseUndecoded } from '../lib/byte-text.ts'
import { isObject, type JsonObject, parseJson } from '../lib/json.ts'
import { editJson } from '../lib/json-text.ts'
import { countTokens } from '../lib/tokens.ts'
import { planReadable } from '../translate/plain-body.ts'
import type { Preparation, PreparedCall, ReadReply } from './prepared-call.ts'
import { bodyFor, withBody } from './upstream-body.ts'

export function prepareResponses(preparation: Preparation): PreparedCall | Promise<PreparedCall> {
  const { body, entry, target, clientModel, outputTokensAfforded, envelopeSigner } = preparation
  const plan = planReadable({
    format: 'responses',
    body,
    entry,
    target,
    outputTokensAfforded,
    openEnvelope: text => envelopeSigner.open(text),
  })
  const usageFacts = target.dialect.usage
  const { names } = plan.reply
  // These closures live as long as the reply, so they must not capture the body or its edits.
  return withBody(bodyFor(body, target, 'responses', plan.edits), written => ({
    body: written,
    readReply(bytes): ReadReply {
      const text = byteText(bytes)
      const json = parseUndecoded(text)
      if (!isObject(json)) throw new GatewayError('upstream_failed', { cause: 'the reply is not a JSON object' })
      refuseUnlessFinished(json)
      const usage = reportOf(json, usageFacts)
      const changes = relayEdits(json, usage, { clientModel, names })
      return {
        body: changes.length === 0 ? bytes : editJson(text, changes),
        usage,
        countOutputTokens: () => countOutput(bytes),
      }
    },
    openStream: () => new ResponsesRelay({ clientModel, countTokens, usageFacts, names }),
  }))
}

/** Throws GatewayError if the response has failed, or if the reply is not a response. */
function refuseUnlessFinished(json: JsonObject): void {
  if (isObject(json.error) || json.status === 'failed') throw gatewayErrorOf(readFailedError(json.error))
  const isFinished = json.status === undefined || json.status === 'completed' || json.status === 'incomplete'
  if (isFinished && Array.isArray(json.output) && readReplyError(json) === null) return
  throw new GatewayError('upstream_failed', { cause: 'the reply is not a finished response' })
}

function countOutput(bytes: Buffer): number {
  const json = parseJson(bytes.toString('utf8'))
  return isObject(json) ? countTokens(outputTextOf(json.output)) : 0
}
