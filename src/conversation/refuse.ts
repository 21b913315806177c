/** How a translator refuses a request: always a 400 that names the place and says what to do. */

import { GatewayError } from '../errors.ts'

/** Throws GatewayError(`invalid_request`). `place` is the path of the value in the client's own notation, or '' for none. */
export function refuse(place: string, problem: string): never {
  throw new GatewayError('invalid_request', { message: place === '' ? problem : `${place}: ${problem}` })
}

/**
 * Refuses a feature with the token by which coding agents know what to leave out when they ask again; the explanation is
 * for people.
 */
export function refuseCapability(token: string, explanation: string): never {
  throw new GatewayError('invalid_request', { message: `capability_rejected: ${token} (${explanation})` })
}
