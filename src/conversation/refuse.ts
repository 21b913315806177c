/** Refuses requests that cannot be converted, with a 400 that names the field and says what to do. */

import { GatewayError } from '../errors.ts'

/**
 * Throws GatewayError `invalid_request`. `place` is the path of the value in the client's request; '' if no single value is at
 * fault.
 */
export function refuse(place: string, problem: string): never {
  throw new GatewayError('invalid_request', { message: place === '' ? problem : `${place}: ${problem}` })
}

/** Refuses a feature. `token` tells coding agents what to leave out when they retry; `explanation` is for people. */
export function refuseCapability(token: string, explanation: string): never {
  throw new GatewayError('invalid_request', { message: `capability_rejected: ${token} (${explanation})` })
}
