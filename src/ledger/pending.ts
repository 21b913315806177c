/** Settlements that are not durable yet, and the callers that wait for them. */

import { type Deadline, startDeadline } from '../lib/deadlines.ts'
import type { SettleAnswer, Settlement } from './types.ts'

export const SPOOLED: SettleAnswer = { outcome: 'spooled', chargedMicroVnd: null, balanceAfterMicroVnd: null }

type Answered = (answer: SettleAnswer) => void

/** A settlement that is not durable yet, with the callers that wait for it. */
export class Pending {
  readonly settlement: Settlement
  readonly #waiting: Answered[] = []
  #answer: SettleAnswer | null = null

  constructor(settlement: Settlement) {
    this.settlement = settlement
  }

  whenAnswered(answered: Answered): void {
    if (this.#answer === null) this.#waiting.push(answered)
    else answered(this.#answer)
  }

  resolve(answer: SettleAnswer): void {
    if (this.#answer !== null) return
    this.#answer = answer
    for (const answered of this.#waiting) answered(answer)
  }
}

/** Limits how long a caller waits for its settlement. */
export class Patience {
  readonly #resolve: Answered
  readonly #deadline: Deadline

  constructor(resolve: Answered, waitMs: number) {
    this.#resolve = resolve
    this.#deadline = startDeadline(waitMs, this)
  }

  answered = (answer: SettleAnswer): void => {
    this.#deadline.end()
    this.#resolve(answer)
  }

  late(): void {
    this.#resolve(SPOOLED)
  }
}
