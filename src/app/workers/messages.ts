/** Messages between a supervisor and its workers. */

import type { Leaving } from '../gateway.ts'

export type FromWorker =
  /** It takes calls. */
  | { readonly kind: 'ready'; readonly url: string; readonly sandboxed: readonly string[]; readonly catalogue: string }
  /** It is leaving by itself; replace it now. */
  | { readonly kind: 'leaving' }
  /** It cannot start: the environment or the code is at fault. */
  | { readonly kind: 'failed'; readonly reason: string; readonly isEnvironment: boolean }
  /** Its metrics for a scrape. */
  | { readonly kind: 'metrics'; readonly question: number; readonly text: string }

export type ToWorker =
  /** Take no more calls; finish those in flight. */
  | { readonly kind: 'stop' }
  /** Leave without failing any client; sent again: sooner. */
  | { readonly kind: 'retire'; readonly how: Leaving }
  /** Abort what you are waiting for. */
  | { readonly kind: 'hurry' }
  /** Send your metrics; the answer carries `question`. */
  | { readonly kind: 'metrics'; readonly question: number }

/** A worker's number among those running, from 1; set by the supervisor. */
export const WORKER_VARIABLE = 'GATEWAY_WORKER'
