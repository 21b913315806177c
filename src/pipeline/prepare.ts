/**
 * Prepares a call for one target, along with a reader for its reply. If client and upstream speak the same format, bytes pass
 * through; otherwise, a translator converts them.
 */

import { translatorFor } from '../translate/convert.ts'
import { passesThrough } from '../translate/same-format.ts'
import { wireOf } from '../translate/wired.ts'
import { prepareConverted } from './prepare-converted.ts'
import { prepareResponses } from './prepare-responses.ts'
import { prepareSameFormat } from './prepare-same-format.ts'
import type { Preparation, PreparedCall } from './prepared-call.ts'

/** Throws GatewayError if the body cannot be converted for the target. */
export function prepare(given: Preparation): PreparedCall | Promise<PreparedCall> {
  const { target, format, body, entry, outputTokensAfforded } = given
  const wire = wireOf(target)
  // Treat the number of output tokens that the wallet can pay for as the model's own limit.
  const limited = outputTokensAfforded === null ? entry : { ...entry, outputTokensMax: outputTokensAfforded }
  const preparation = { ...given, entry: limited }
  if (wire === format && body.format === format && passesThrough(format, body.outline, target.dialect)) {
    return format === 'responses' ? prepareResponses(preparation) : prepareSameFormat({ ...preparation, format })
  }
  return prepareConverted(preparation, translatorFor(format, wire, body.format))
}
