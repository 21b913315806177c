/** What a supervisor and its workers say to each other. */

import type { Leaving } from '../gateway.ts'

export type FromWorker =
  /** It takes calls. */
  | { readonly kind: 'ready'; readonly url: string; readonly sandboxed: readonly string[]; readonly catalogue: string }
  /** It leaves by itself: another is to take its place now. */
  | { readonly kind: 'leaving' }
  /** It will not: the environment or the code is at fault. */
  | { readonly kind: 'failed'; readonly reason: string; readonly isEnvironment: boolean }
  /** Its metrics, as a scrape reads them. */
  | { readonly kind: 'metrics'; readonly question: number; readonly text: string }

export type ToWorker =
  /** Take no more calls; finish those in flight. */
  | { readonly kind: 'stop' }
  /** Leave without a client noticing; again: sooner. */
  | { readonly kind: 'retire'; readonly how: Leaving }
  /** Break off what is waited for. */
  | { readonly kind: 'hurry' }
  /** Say your metrics; `question` comes back with the answer. */
  | { readonly kind: 'metrics'; readonly question: number }

/** Number of a worker among those that run at the same time, from 1; set by the supervisor. */
export const WORKER_VARIABLE = 'GATEWAY_WORKER'
