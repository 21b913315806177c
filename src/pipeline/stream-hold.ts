/**
 * The hold of a running stream. It requests an extension before it is used up, and the stream continues meanwhile. A stream
 * that uses up its hold before the answer arrives waits for the answer. If the wallet grants only part of an extension, the
 * hold asks again once that part is used up; if the wallet then grants nothing, the money is spent. If Postgres is not
 * responding, the stream waits for `holdExtendWaitMs` each time and then continues for the tokens of one more extension,
 * unsecured: without money held for them.
 *
 * All figures are in tokens, because input and output have the same price.
 */

import { BYTES_PER_TOKEN_MIN } from '../conversation/output-gatherer.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { ReadLimit } from '../conversation/stream-feed.ts'
import { type UsageReport, withoutImplausible } from '../conversation/usage.ts'
import type { GatewayError } from '../errors.ts'
import type { ExtendAnswer, Ledger } from '../ledger/types.ts'
import { Canceller } from '../lib/cancellation.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'
import type { PipelineLimits } from './call.ts'

/** Minimum number of bytes that may be output between two cost checks. */
const LOOK_BYTES_MIN = 1_024
/** Usual size of an event, in bytes. If fewer bytes are left until the next cost check, the check is made at once. */
const EVENT_BYTES = 512
/** The next extension is requested when a sixteenth of an extension's size is left. */
const AHEAD_PART = 16

export interface StreamHoldOptions {
  readonly ledger: Pick<Ledger, 'extend'>
  readonly callId: string
  readonly accountId: number
  /** Price in VND per 1M tokens. */
  readonly priceVnd: number
  /** Money held for tokens, in µVND. */
  readonly heldMicroVnd: MicroVnd
  /** Money held for tool uses, in µVND; tokens must not use it. */
  readonly reservedMicroVnd: MicroVnd
  readonly choices: number
  readonly inputTokensEstimate: number
  /** Called at most once: when the estimate says that the money is spent, and the provider has not reported a count. */
  readonly countInputTokens: () => number
  /** Larger reported counts are ignored. */
  readonly reportedTokensMax: number
  readonly stream: Pick<ReplyStream, 'usage' | 'estimateOutputTokens' | 'countOutputTokens'>
  readonly limits: Pick<PipelineLimits, 'holdExtendTokens' | 'holdExtendWaitMs'>
  /** Makes the error that the client gets when the money is spent. */
  readonly spentError: () => GatewayError
}

/** `go`: continue reading. `wait`: read nothing until `onChange`. `spent`: the wallet is empty; end the stream. */
export type HoldState = 'go' | 'wait' | 'spent'

export class StreamHold implements ReadLimit {
  readonly #options: StreamHoldOptions
  /** Size of an extension: `holdExtendTokens` for each choice. */
  readonly #stepTokens: number
  readonly #over = new Canceller()
  #heldTokens: number
  /** Tokens allowed without money held for them, because the ledger did not answer. */
  #unsecuredTokens = 0
  #inputTokensCounted: number | null = null
  #asking = false
  /** Whether the wallet granted only part of the last request. */
  #isScarce = false
  #timer: NodeJS.Timeout | undefined
  /** Bytes of output until the next cost check: so few that the estimate cannot exceed the hold before that check. */
  #bytesLeft = 0
  /** Tokens that the provider had reported at the last cost check. */
  #reportedTokens = 0
  state: HoldState = 'go'
  /** Called when `state` changes, because the ledger answered or the wait is over. */
  onChange: () => void = () => {}

  constructor(options: StreamHoldOptions) {
    this.#options = options
    this.#stepTokens = options.limits.holdExtendTokens * options.choices
    this.#heldTokens = this.#tokensOf(options.heldMicroVnd)
    this.#lookAgainIn(this.#heldTokens - options.inputTokensEstimate - this.#aheadTokens)
  }

  get spentError(): GatewayError {
    return this.#options.spentError()
  }

  get bytesFree(): number {
    return this.state === 'go' ? this.#bytesLeft : 0
  }

  /** Any of the bytes may be output. Tokens that the provider has reported meanwhile are checked at once. */
  read(bytes: number): void {
    if (reportedTokens(this.#options.stream.usage) > this.#reportedTokens) this.#bytesLeft = 0
    this.skimmed(bytes)
  }

  skimmed(outputBytes: number): void {
    this.#bytesLeft -= outputBytes
    if (this.#bytesLeft < EVENT_BYTES && this.state === 'go') this.#look()
  }

  /** Call when the stream is over: answers that are still to come are ignored. */
  close(): void {
    clearTimeout(this.#timer)
    this.onChange = () => {}
    if (!this.#over.aborted) this.#over.abort()
  }

  get #aheadTokens(): number {
    return this.#stepTokens / AHEAD_PART
  }

  /** Number of tokens up to which the stream may run for now. */
  get #limitTokens(): number {
    return this.#heldTokens + this.#unsecuredTokens
  }

  #tokensOf(amount: MicroVnd): number {
    return Number(amount / BigInt(this.#options.priceVnd))
  }

  #lookAgainIn(tokens: number): void {
    this.#bytesLeft = Math.max(LOOK_BYTES_MIN, Math.floor(tokens * BYTES_PER_TOKEN_MIN))
  }

  #look(): void {
    this.#reportedTokens = reportedTokens(this.#options.stream.usage)
    if (this.#options.stream.usage.state === 'final') {
      // The stream's final usage is known, and no more output will come.
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

  /** Number of tokens used so far. Output is estimated from its length, unless the provider has reported more. */
  #usedTokens(): number {
    const { stream, inputTokensEstimate, reportedTokensMax } = this.#options
    const { usage, hiddenOutputTokens } = withoutImplausible(stream.usage, reportedTokensMax)
    const inputTokens = usage.inputTokens || (this.#inputTokensCounted ?? inputTokensEstimate)
    return inputTokens + Math.max(usage.outputTokens, hiddenOutputTokens + stream.estimateOutputTokens())
  }

  /** Counts the tokens precisely, as they would be billed if the stream ended now. */
  #countTokens(): number {
    const { stream, countInputTokens, reportedTokensMax } = this.#options
    if (withoutImplausible(stream.usage, reportedTokensMax).usage.inputTokens === 0)
      this.#inputTokensCounted ??= countInputTokens()
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
        // The ledger has logged the reason. The stream continues for now, and the hold asks again later.
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
    if (this.#isScarce && this.#isUsedUp()) {
      this.state = 'spent'
    } else {
      this.state = 'go'
      this.#look()
    }
    this.onChange()
  }

  /** Whether the stream has used up its hold. Once its final usage is known, it uses no more, so there is no reason to end it. */
  #isUsedUp(): boolean {
    if (this.#options.stream.usage.state === 'final') return false
    return this.#usedTokens() >= this.#heldTokens && this.#countTokens() >= this.#heldTokens
  }

  #wait(): void {
    this.state = 'wait'
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#letOn(), this.#options.limits.holdExtendWaitMs)
  }

  /** Lets the stream continue for the tokens of one more extension, without money held for them. */
  #letOn(): void {
    if (this.#over.aborted) return
    clearTimeout(this.#timer)
    this.#unsecuredTokens += this.#stepTokens
    this.state = 'go'
    this.#look()
    this.onChange()
  }
}

function reportedTokens({ usage, hiddenOutputTokens }: UsageReport): number {
  return usage.inputTokens + usage.outputTokens + hiddenOutputTokens
}
