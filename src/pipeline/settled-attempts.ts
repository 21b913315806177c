/** Lists a call's attempts for its usage row: the credential and model of each, when it ran, and how it ended. */

import { ATTEMPTS_MAX } from '../ledger/check.ts'
import type { SettledAttempt } from '../ledger/types.ts'
import type { Call } from './call.ts'

const LABEL_MAX = 100

export interface CallEnd {
  /** Monotonic time, in ms. */
  readonly atMs: number
  readonly isClientGone: boolean
  /** What went wrong; null if nothing did. */
  readonly code: string | null
}

/** The attempt that did not fail served the call, so it gets the call's own outcome. */
export function settledAttempts(
  { attempts, startedMs }: Pick<Call, 'attempts' | 'startedMs'>,
  end: CallEnd,
): readonly SettledAttempt[] {
  const since = (ms: number): number => Math.max(0, Math.round(ms - startedMs))
  const last = attempts.at(-1)
  return attempts.slice(-ATTEMPTS_MAX).map(attempt => {
    const { credential, target, failure } = attempt
    const isLeft = end.isClientGone && attempt === last
    const status = failure?.status ?? 0
    return {
      credential: plain(credential.label),
      model: plain(target.model),
      startedMs: since(attempt.startedMs),
      endedMs: since(failure?.atMs ?? end.atMs),
      outcome: isLeft ? 'client_gone' : (failure?.code ?? end.code ?? 'ok'),
      ...(status > 0 && { status }),
    }
  })
}

function plain(label: string): string {
  return label.slice(0, LABEL_MAX).replace(/[^\x21-\x7e]/g, '?')
}
