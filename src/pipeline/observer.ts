/** No-op observer and tracer, used when metrics and tracing are off. */

import type { CallObserver, CallTracer } from './call.ts'

export const NO_OBSERVER: CallObserver = {
  ended() {},
  errorSent() {},
  notificationHandled() {},
  pageFailed() {},
}

/** Traces nothing, and sends the client's own `traceparent` upstream. */
export const NO_TRACER: CallTracer = {
  ended() {},
  traceIdOf: () => null,
  traceparentOf: call => call.header('traceparent'),
}
