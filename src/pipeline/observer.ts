/** Watches nothing: for gateways without metrics or traces. */

import type { CallObserver, CallTracer } from './call.ts'

export const NO_OBSERVER: CallObserver = {
  ended() {},
  errorSent() {},
  notificationTaken() {},
}

/** What the client sent goes on unchanged to an upstream that is to have it. */
export const NO_TRACER: CallTracer = {
  ended() {},
  traceIdOf: () => null,
  traceparentOf: call => call.header('traceparent'),
}
