/**
 * Prepares a call for one target, along with a reader for its reply. If client and upstream speak the same format, bytes pass
 * through; otherwise, a translator converts them.
 */

import type { WireName } from '../generated/types.ts'
import { translatorFor } from '../translate/convert.ts'
import { passesThrough } from '../translate/same-format.ts'
import { wireOf } from '../translate/wired.ts'
import { readInTurns } from './long-reply.ts'
import { prepareConverted } from './prepare-converted.ts'
import { prepareResponses } from './prepare-responses.ts'
import { prepareSameFormat } from './prepare-same-format.ts'
import type { Preparation, PreparedCall } from './prepared-call.ts'

/** Throws GatewayError if the body cannot be converted for the target. */
export function prepare(given: Preparation): PreparedCall | Promise<PreparedCall> {
  const { target, entry, outputTokensAfforded } = given
  const wire = wireOf(target)
  // Treat the number of output tokens that the wallet can pay for as the model's own limit.
  const limited = outputTokensAfforded === null ? entry : { ...entry, outputTokensMax: outputTokensAfforded }
  const preparation = { ...given, entry: limited }
  const prepared = prepareOn(wire, preparation)
  return prepared instanceof Promise
    ? prepared.then(call => readingInTurns(call, given.limits))
    : readingInTurns(prepared, given.limits)
}

function readingInTurns(prepared: PreparedCall, limits: Preparation['limits']): PreparedCall {
  const read = prepared.readReply
  return { ...prepared, readReply: bytes => readInTurns(bytes, read, limits) }
}

function prepareOn(wire: WireName, preparation: Preparation): PreparedCall | Promise<PreparedCall> {
  const { target, format, body } = preparation
  if (wire === format && body.format === format && passesThrough(format, body.outline, target.dialect)) {
    return format === 'responses' ? prepareResponses(preparation) : prepareSameFormat({ ...preparation, format })
  }
  return prepareConverted(preparation, translatorFor(format, wire, body.format))
}
