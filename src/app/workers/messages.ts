/** Messages between a supervisor and its workers. */

import type { RetireMode } from '../gateway.ts'

export type FromWorker =
  /** The worker is taking calls. */
  | { readonly kind: 'ready'; readonly url: string; readonly sandboxed: readonly string[]; readonly catalogue: string }
  /** The worker is leaving of its own accord; replace it now. */
  | { readonly kind: 'leaving' }
  /** The worker cannot start: the environment or the code is at fault. */
  | { readonly kind: 'failed'; readonly reason: string; readonly isEnvironment: boolean }
  /** The worker's metrics, in reply to the supervisor's message with the same `question`. */
  | { readonly kind: 'metrics'; readonly question: number; readonly text: string }

export type ToWorker =
  /** Take no more calls; finish those in flight. */
  | { readonly kind: 'stop' }
  /** Leave without failing any client's call; if sent again, leave sooner. */
  | { readonly kind: 'retire'; readonly how: RetireMode }
  /** Abort the calls you are waiting for. */
  | { readonly kind: 'hurry' }
  /** Send your metrics, in a message with the same `question`. */
  | { readonly kind: 'metrics'; readonly question: number }

/** Environment variable in which the supervisor passes each worker its number, starting at 1. */
export const WORKER_VARIABLE = 'GATEWAY_WORKER'
