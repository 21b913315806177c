/** Prepares a call whose client and upstream speak different formats: a translator converts body and reply. */

import { OutputGatherer } from '../conversation/output-gatherer.ts'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import type { UsageReport } from '../conversation/usage.ts'
import { applyRules } from '../dialect/rules.ts'
import { GatewayError } from '../errors.ts'
import { type ByteText, isAsciiText, NO_BYTES, ofCharacters } from '../lib/byte-text.ts'
import { parseExactJson } from '../lib/exact-json.ts'
import { hexId } from '../lib/ids.ts'
import { isObject } from '../lib/json.ts'
import { writeJson } from '../lib/json-write.ts'
import type { SseEvent } from '../lib/sse.ts'
import { countTokens } from '../lib/tokens.ts'
import { envelopesOf } from '../translate/envelopes.ts'
import type { StreamTranslation, Translator } from '../translate/translator.ts'
import { wireOf } from '../translate/wired.ts'
import { isPrefilled } from './prefilled.ts'
import type { Preparation, PreparedCall, ReadReply } from './prepared-call.ts'
import { billedUsage, type UsageChecks, usedBy, usedByStream } from './stream-result.ts'

/** Bodies of at least this many bytes are serialised over several turns of the event loop. */
const LARGE_BYTES = 256 * 1024

export function prepareConverted(
  preparation: Preparation,
  translator: Translator,
): PreparedCall | Promise<PreparedCall> {
  const { body, entry, clientModel, target, format, betas, inputTokensEstimate, countInputTokens, reportedTokensMax } =
    preparation
  const checks: UsageChecks = { countInputTokens, reportedTokensMax }
  const translation = translator(body.json, {
    entry,
    target,
    clientModel,
    betas,
    newId: () => hexId(),
    nowSeconds: nowSeconds(),
    clock: nowSeconds,
    inputTokensEstimate,
    countInputTokens,
    envelopes: envelopesOf(preparation.envelopeSigner, target.via),
  })
  if (body.streamed && format !== 'chat_completions') countAhead(countInputTokens)
  const upstreamBody = applyRules(translation.upstreamBody, target.rules, wireOf(target))
  const { upstreamBetas, reply: readUpstreamReply, stream } = translation
  const prefilled = isPrefilled(upstreamBody, target)
  // These closures live as long as the reply, so they must not capture a body.
  const call = (written: Buffer): PreparedCall => ({
    body: written,
    betas: upstreamBetas,
    prefilled,
    readReply(bytes): ReadReply {
      const json = parseExactJson(bytes.toString('utf8'))
      if (!isObject(json)) throw new GatewayError('upstream_failed', { cause: 'the reply is not a JSON object' })
      const {
        body: reply,
        usage,
        output,
      } = readUpstreamReply(json, reported =>
        billedUsage(usedBy(reported.usage, () => countTokens(reported.output), checks)),
      )
      return { body: bytesOf(JSON.stringify(reply)), usage, countOutputTokens: () => countTokens(output) }
    },
    openStream: () => new ConvertedStream(stream, checks),
  })
  if (body.text.length >= LARGE_BYTES) return writeJson(upstreamBody).then(call)
  return call(Buffer.from(JSON.stringify(upstreamBody), 'utf8'))
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** Counts the input tokens while the provider is working, because the client's stream begins with the count. */
function countAhead(count: () => number): void {
  setImmediate(() => {
    try {
      count()
    } catch {
      // If counting fails, it fails again when the count is needed, where the error is handled.
    }
  })
}

/** Encodes non-ASCII text once, straight into the buffer to be sent. */
function bytesOf(text: string): Buffer | ByteText {
  return isAsciiText(text) ? ofCharacters(text) : Buffer.from(text, 'utf8')
}

class ConvertedStream implements ReplyStream {
  readonly #translation: StreamTranslation
  readonly #output = new OutputGatherer({ countTokens })
  readonly #checks: UsageChecks

  constructor(open: (onOutput: (text: string) => void) => StreamTranslation, checks: UsageChecks) {
    this.#translation = open(text => this.#output.add(text))
    this.#checks = checks
  }

  get finished(): boolean {
    return this.#translation.finished
  }

  get usage(): UsageReport {
    return this.#translation.usage
  }

  push(event: SseEvent): ByteText {
    return event.hasData ? this.#translation.push(event) : NO_BYTES
  }

  skim(all: ByteText, at: number, outputBytesMax: number): ByteText {
    const events = this.#translation.skim(all, at, outputBytesMax)
    const { skimmedText } = this.#translation
    if (skimmedText.length > 0) this.#output.addWritten(skimmedText)
    return events
  }

  get skimmedBytes(): number {
    return this.#translation.skimmedText.length
  }

  get skimmedTo(): number {
    return this.#translation.skimmedTo
  }

  end(): ByteText {
    const used = usedByStream(this, this.#checks)
    return used.estimated ? this.#translation.end(billedUsage(used)) : this.#translation.end()
  }

  failureEvent = (error: GatewayError): string | null => this.#translation.failureEvent(error)

  countOutputTokens(): number {
    return this.#output.tokens()
  }

  estimateOutputTokens(): number {
    return this.#output.estimate()
  }
}
