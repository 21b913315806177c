/** Makes the call that goes to one target, and says how its reply is to be read: byte for byte in one format, or through a translator. */

import { translatorFor } from '../translate/convert.ts'
import { passesThrough } from '../translate/same-format.ts'
import { wireOf } from '../translate/wired.ts'
import { prepareConverted } from './prepare-converted.ts'
import { prepareResponses } from './prepare-responses.ts'
import { prepareSameFormat } from './prepare-same-format.ts'
import type { Preparation, PreparedCall } from './prepared-call.ts'

/** Throws GatewayError where the body cannot be carried over to the target. */
export function prepare(given: Preparation): PreparedCall | Promise<PreparedCall> {
  const { target, format, entry, outputTokensAfforded } = given
  const wire = wireOf(target)
  // A cap that the wallet affords is kept as the model's own limit is.
  const limited = outputTokensAfforded === null ? entry : { ...entry, outputTokensMax: outputTokensAfforded }
  const preparation = { ...given, entry: limited }
  if (wire === format && passesThrough(format, given.body.json, target.dialect)) {
    return format === 'responses' ? prepareResponses(preparation) : prepareSameFormat({ ...preparation, format })
  }
  return prepareConverted(preparation, translatorFor(format, wire))
}
