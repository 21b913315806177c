/** A call's attempts as its usage row keeps them: where they went, when, and how they ended. */

import { ATTEMPTS_MAX } from '../ledger/check.ts'
import type { SettledAttempt } from '../ledger/types.ts'
import type { Call } from './call.ts'

const LABEL_MAX = 100

export interface CallEnd {
  /** Monotonic milliseconds. */
  readonly atMs: number
  readonly isClientGone: boolean
  /** What went wrong, if anything did. */
  readonly code: string | null
}

/** The attempts for the usage row. One without a failure of its own served the call, so it ends as the call did. */
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
