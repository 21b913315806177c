/** What all calls have in common: a bill that is settled once, and errors that are sent to the client. */

import { GatewayError } from '../errors.ts'
import { Bill, CLIENT_GONE } from './bill.ts'
import type { Call, ClientChannel, HeaderMap, Services } from './call.ts'
import { checkTag } from './tag.ts'

export interface CallScope {
  readonly services: Services
  readonly call: Call
  readonly client: ClientChannel
  readonly bill: Bill
  /** Headers known so far. An error reply has them too. */
  readonly headers: HeaderMap
}

/** Does the work of a call. Never rejects: errors go to the client and into the usage row. */
export async function runBilled(
  services: Services,
  call: Call,
  client: ClientChannel,
  work: (scope: CallScope) => Promise<void>,
): Promise<void> {
  const bill = new Bill(services, call, () => client.firstByteMs)
  const scope: CallScope = { services, call, client, bill, headers: {} }
  try {
    checkTag(services, call)
    await work(scope)
  } catch (error) {
    await fail(scope, error)
  } finally {
    if (!bill.settled) await bill.release(500, 'internal')
  }
}

async function fail({ services, call, client, bill, headers }: CallScope, cause: unknown): Promise<void> {
  const error = cause instanceof GatewayError ? cause : new GatewayError('internal', { cause })
  const status = client.gone.aborted ? CLIENT_GONE : error.status
  // A client that leaves is not a fault, but what fails on its way out may be.
  const isOurs = error.code === 'internal' && cause !== client.gone.reason
  if (client.gone.aborted ? isOurs : error.status >= 500) {
    services.log.error({ requestId: call.requestId, code: error.code, cause: error.details.cause }, 'call failed')
  }
  try {
    await bill.release(status, error.code)
  } catch (fault) {
    services.log.error({ requestId: call.requestId, cause: fault }, 'settlement failed')
    await bill.abandon()
  } finally {
    client.fail(error, headers)
  }
}
