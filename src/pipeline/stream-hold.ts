/**
 * The hold of a stream that is under way. More is asked for before it is used up, and the stream runs on meanwhile; where it
 * is used up before the answer has come, the stream waits. A wallet that had not all that was wanted is asked again when
 * the hold is used up: when that brings nothing, the money is spent. Without any answer (Postgres is away) a stream does
 * not end: it gets a step that nothing is set aside for whenever it has waited for `holdExtendWaitMs`.
 *
 * All figures are tokens, because input and output have one price.
 */

import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { GatewayError } from '../errors.ts'
import type { ExtendAnswer, Ledger } from '../ledger/types.ts'
import { Canceller } from '../lib/cancellation.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { PipelineLimits } from './call.ts'

/** Pieces of a stream are not cut smaller than this to look at what they cost, in bytes. */
const LOOK_BYTES_MIN = 1_024
/** More is asked for when this part of a step is left. */
const AHEAD_PART = 16

export interface StreamHoldOptions {
  readonly ledger: Pick<Ledger, 'extend'>
  readonly callId: string
  readonly accountId: number
  /** VND per 1M tokens. */
  readonly priceVnd: number
  /** Set aside for tokens. */
  readonly heldMicroVnd: MicroVnd
  /** Set aside beside that, for uses of tools: not there to be spent on tokens. */
  readonly reservedMicroVnd: MicroVnd
  /** Replies that the call asked for. */
  readonly choices: number
  readonly inputTokensEstimate: number
  /** Asked once, where the estimate says that the money is spent and the provider has not reported its count. */
  readonly countInputTokens: () => number
  readonly stream: Pick<ReplyStream, 'usage' | 'estimateOutputTokens' | 'countOutputTokens'>
  readonly limits: Pick<PipelineLimits, 'holdExtendTokens' | 'holdExtendWaitMs'>
  /** What the client is told when the money is spent. */
  readonly spentError: GatewayError
}

/** `go`: read on. `wait`: read nothing until `onChange`. `spent`: the wallet has nothing more; end the stream. */
export type HoldState = 'go' | 'wait' | 'spent'

export class StreamHold {
  readonly #options: StreamHoldOptions
  readonly #stepTokens: number
  readonly #over = new Canceller()
  #heldTokens: number
  /** Steps that were let through because no answer came. */
  #unsecuredTokens = 0
  #inputTokensCounted: number | null = null
  #asking = false
  /** The wallet had not all that was wanted when it was last asked. */
  #isScarce = false
  #timer: NodeJS.Timeout | undefined
  /** Bytes until the next look: no token is shorter than a byte. */
  #bytesLeft = 0
  state: HoldState = 'go'
  /** Called when the state has changed by an answer, or for want of one. */
  onChange: () => void = () => {}

  constructor(options: StreamHoldOptions) {
    this.#options = options
    this.#stepTokens = options.limits.holdExtendTokens * options.choices
    this.#heldTokens = this.#tokensOf(options.heldMicroVnd)
    this.#lookAgainIn(this.#heldTokens - options.inputTokensEstimate - this.#aheadTokens)
  }

  get spentError(): GatewayError {
    return this.#options.spentError
  }

  /** Bytes of the stream that may be read before `passed` must be told. */
  get bytesFree(): number {
    return this.#bytesLeft
  }

  /** So many bytes of the stream have been read. */
  passed(bytes: number): void {
    this.#bytesLeft -= bytes
    if (this.#bytesLeft <= 0 && this.state === 'go') this.#look()
  }

  /** The stream is over; what is under way is dropped. */
  close(): void {
    clearTimeout(this.#timer)
    this.onChange = () => {}
    if (!this.#over.aborted) this.#over.abort()
  }

  get #aheadTokens(): number {
    return this.#stepTokens / AHEAD_PART
  }

  /** Tokens up to which the stream may run now. */
  get #limitTokens(): number {
    return this.#heldTokens + this.#unsecuredTokens
  }

  #tokensOf(amount: MicroVnd): number {
    return Number(amount / BigInt(this.#options.priceVnd))
  }

  #lookAgainIn(tokens: number): void {
    this.#bytesLeft = Math.max(LOOK_BYTES_MIN, Math.floor(tokens))
  }

  #look(): void {
    if (this.#options.stream.usage.state === 'final') {
      // What it costs is known, and nothing more comes.
      this.#bytesLeft = Number.POSITIVE_INFINITY
      return
    }
    const used = this.#usedTokens()
    const limit = this.#limitTokens
    const asksAt = this.#isScarce ? limit : limit - this.#aheadTokens
    if (!this.#asking && used >= asksAt) this.#ask(Math.max(used, limit) + this.#stepTokens)
    if (used >= limit) this.#wait()
    else this.#lookAgainIn((this.#asking ? limit : asksAt) - used)
  }

  /** Roughly, by the length of what came; reported figures count where they say more. */
  #usedTokens(): number {
    const { stream, inputTokensEstimate } = this.#options
    const { usage, hiddenOutputTokens } = stream.usage
    const inputTokens = usage.inputTokens || (this.#inputTokensCounted ?? inputTokensEstimate)
    return inputTokens + Math.max(usage.outputTokens, hiddenOutputTokens + stream.estimateOutputTokens())
  }

  /** As it would be billed now. */
  #countTokens(): number {
    const { stream, countInputTokens } = this.#options
    if (stream.usage.usage.inputTokens === 0) this.#inputTokensCounted ??= countInputTokens()
    stream.countOutputTokens()
    return this.#usedTokens()
  }

  #ask(wantTokens: number): void {
    const { ledger, callId, accountId, priceVnd, reservedMicroVnd } = this.#options
    this.#asking = true
    const wantMicroVnd = microVnd(BigInt(Math.ceil(wantTokens)) * BigInt(priceVnd) + reservedMicroVnd)
    ledger.extend({ callId, accountId, wantMicroVnd }, { signal: this.#over }).then(
      answer => this.#answered(answer, wantMicroVnd),
      () => {
        // The ledger has reported why; the next step asks again.
        this.#asking = false
        this.#letOn()
      },
    )
  }

  #answered(answer: ExtendAnswer | null, wantMicroVnd: MicroVnd): void {
    if (answer === null || this.#over.aborted) return
    clearTimeout(this.#timer)
    this.#asking = false
    this.#isScarce = answer.heldMicroVnd < wantMicroVnd
    this.#heldTokens = this.#tokensOf(microVnd(answer.heldMicroVnd - this.#options.reservedMicroVnd))
    this.#unsecuredTokens = 0
    if (this.#isScarce && this.#usedTokens() >= this.#heldTokens && this.#countTokens() >= this.#heldTokens) {
      this.state = 'spent'
    } else {
      this.state = 'go'
      this.#look()
    }
    this.onChange()
  }

  #wait(): void {
    this.state = 'wait'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#letOn(), this.#options.limits.holdExtendWaitMs)
  }

  /** One more step without an answer. */
  #letOn(): void {
    if (this.#over.aborted) return
    clearTimeout(this.#timer)
    this.#unsecuredTokens += this.#stepTokens
    this.state = 'go'
    this.#look()
    this.onChange()
  }
}
