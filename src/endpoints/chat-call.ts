/** Runs a chat call, whichever format the client speaks. */

import assert from 'node:assert/strict'
import type { ReplyStream } from '../conversation/reply-stream.ts'
import { type UsageReport, withoutImplausible } from '../conversation/usage.ts'
import type { UpstreamTarget, WireName } from '../generated/types.ts'
import { ascii, type ByteText } from '../lib/byte-text.ts'
import { SHORT_BYTES } from '../lib/json-parse.ts'
import { inTurn } from '../lib/loop-turns.ts'
import type { AdmittedCall, CallKind, OpenedCall } from '../pipeline/call-kind.ts'
import { checkArguments } from '../pipeline/check-arguments.ts'
import { readChoices } from '../pipeline/choices.ts'
import { estimateInput, lowestCap, raisedCap } from '../pipeline/estimate.ts'
import { type Funded, type Funding, fund, holdOfStream } from '../pipeline/fund.ts'
import { withInlineImages } from '../pipeline/inline-images.ts'
import { InputCount } from '../pipeline/input-count.ts'
import { prepare } from '../pipeline/prepare.ts'
import type { PreparedCall } from '../pipeline/prepared-call.ts'
import { type ChatBody, readChatBody } from '../pipeline/receive.ts'
import { asStream } from '../pipeline/replay.ts'
import { reportedTokensMax, resultOf, type UsageChecks, usedBy } from '../pipeline/stream-result.ts'
import { onWires, wireOf } from '../translate/wired.ts'
import type { UpstreamReply } from '../upstream/reply.ts'

const COMMENT = ascii(': ping\n\n')
const PINGS: Readonly<Record<WireName, ByteText>> = {
  messages: ascii('event: ping\ndata: {"type":"ping"}\n\n'),
  chat_completions: COMMENT,
  responses: COMMENT,
}

export function chatCall(format: WireName): CallKind<ChatBody> {
  return {
    read: (call, limits) => readChatBody(call.takeBody(), limits, format),
    entryFor: (entry, body) => onWires(entry, body.format, body.outline),
    async admit(opened) {
      const { services, resolution, body, extras } = opened
      const { entry } = resolution
      const { streamed, outputTokensMax } = body
      const input = estimateInput(body, services.limits.holdTokensPerImage)
      const choices = readChoices(body.outline, entry)
      const outputTokensMin = lowestCap(body.outline, entry)
      const caps = { streamed, outputTokensMax: raisedCap(outputTokensMax, entry) }
      const funding = { resolution, input, body: caps, choices, outputTokensMin, extras }
      return admitted(new ChatCall(opened, { format, funding, funded: await fund(opened, funding) }), streamed)
    },
  }
}

function admitted(chat: ChatCall, streamed: boolean): AdmittedCall {
  const prepareFor = (target: UpstreamTarget) => chat.prepareFor(target)
  if (!streamed) {
    return {
      reply: 'whole',
      prepare: prepareFor,
      usedBy(reply) {
        chat.warnOfImplausible(reply.usage)
        return usedBy(reply.usage, () => reply.countOutputTokens(), chat.checks)
      },
    }
  }
  return {
    reply: 'events',
    prepare: prepareFor,
    ping: PINGS[chat.format],
    asEvents: (reply, target) => chat.asEvents(reply, target),
    begun: stream => chat.letBodyGo(stream),
    holdOf: stream => chat.holdOf(stream),
    resultOf(stream, end) {
      chat.warnOfImplausible(stream.usage)
      return resultOf({ stream, end, ...chat.checks })
    },
  }
}

interface Terms {
  readonly format: WireName
  readonly funding: Funding
  readonly funded: Funded
}

class ChatCall {
  /** The format in which the client reads the reply. */
  readonly format: WireName
  readonly checks: UsageChecks
  readonly #opened: Omit<OpenedCall<ChatBody>, 'body'>
  readonly #funding: Funding
  readonly #funded: Funded
  readonly #input: InputCount
  /** Null once no further attempt can need it. */
  #body: ChatBody | null

  constructor({ body, ...opened }: OpenedCall<ChatBody>, { format, funding, funded }: Terms) {
    this.format = format
    this.#opened = opened
    this.#funding = funding
    this.#funded = funded
    this.#body = body
    const { entry } = opened.resolution
    const { reportedWindowsMax } = opened.services.limits
    const tokensMax = reportedTokensMax(entry, funding.choices, reportedWindowsMax)
    const inputTokensEstimate = funding.input.tokens
    this.#input = new InputCount({
      body,
      format: body.format,
      entry,
      inputTokensEstimate,
      reportedTokensMax: tokensMax,
    })
    this.checks = { countInputTokens: this.#input.tokens, reportedTokensMax: tokensMax }
  }

  /** Builds the request body for a target, and the reader for its reply. */
  prepareFor(target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
    assert(this.#body)
    const { services, client, call, extras } = this.#opened
    const body = extras.bodyFor(this.#body, target)
    const { format } = body
    this.#recordWire(target)
    if (target.dialect.content.imageUrl !== 'inline') return this.#prepareInTurn(body, target)
    return withInlineImages(services, { call, body, target, format, signal: client.gone }).then(inlined =>
      this.#prepareInTurn(inlined, target),
    )
  }

  /** Replays a non-streamed reply as the stream that the provider should have sent. */
  asEvents(reply: UpstreamReply, target: UpstreamTarget): Promise<UpstreamReply> {
    const { services, call } = this.#opened
    const { limits } = services
    return asStream(reply, target, { bytesMax: limits.replyBytesMax, room: call.replyRoom, limits })
  }

  /** Called once a stream has begun: there will be no further attempt, so the body can be released. */
  letBodyGo(stream: ReplyStream): void {
    this.#body = null
    const letGo = inTurn(() => this.#input.letGo(stream))
    // Counting may fail; the error then surfaces where the count is used.
    void letGo.catch(() => {}).then(this.#opened.call.bodyDone)
  }

  holdOf(stream: ReplyStream) {
    const { checks } = this
    return holdOfStream(this.#opened, { funding: this.#funding, funded: this.#funded, stream, checks })
  }

  /** Tells the operator about a usage report that is not believed. */
  warnOfImplausible(report: UsageReport): void {
    const { reportedTokensMax } = this.checks
    if (withoutImplausible(report, reportedTokensMax) === report) return
    const { services, resolution, call } = this.#opened
    const { inputTokens, outputTokens } = report.usage
    services.log.warn(
      {
        requestId: call.requestId,
        entry: resolution.entry.id,
        upstream: call.attempts.at(-1)?.upstream.facts.id ?? null,
        inputTokens,
        outputTokens,
        reportedTokensMax,
      },
      'a provider reported more tokens than the context window of the model allows; our own count is billed instead',
    )
  }

  /** Records the format in which the upstream is called and, outside production, names it in a response header. */
  #recordWire(target: UpstreamTarget): void {
    const { services, bill, headers } = this.#opened
    bill.wire = wireOf(target)
    if (services.sendsWireHeader) headers[`x-${services.catalogue.settings.service}-wire`] = bill.wire
  }

  /** Gives a large body its own turn of the event loop, and a second one if it must be parsed before it is converted. */
  #prepareInTurn(body: ChatBody, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
    if (body.text.length <= SHORT_BYTES) return this.#prepare(body, target)
    const prepared = () =>
      inTurn(() => {
        const made = this.#prepare(body, target)
        // The reply may take minutes, and only another attempt would need the values. A stream soon releases the whole body.
        if (!body.streamed) body.unread?.forget()
        return made
      })
    if (wireOf(target) === body.format && target.dialect.tools.arguments === 'any') return prepared()
    return inTurn(() => body.json)
      .then(json => checkArguments(json, body.format, this.#opened.services.limits))
      .then(prepared)
  }

  #prepare(body: ChatBody, target: UpstreamTarget): PreparedCall | Promise<PreparedCall> {
    const { services, call, resolution, extras } = this.#opened
    const { entry, clientModel } = resolution
    return prepare({
      envelopeSigner: services.envelopeSignerFor(call.caller.accountId),
      body,
      entry,
      clientModel,
      target,
      format: this.format,
      betas: extras.betasFor(readBetas(call.header), target),
      ...this.checks,
      inputTokensEstimate: this.#funding.input.tokens,
      outputTokensAfforded: this.#funded.outputTokensAfforded,
      limits: services.limits,
    })
  }
}

const BETA_HEADER = 'anthropic-beta'
/** Maximum number of beta flags that are read from the header. */
const BETAS_MAX = 64

/** The client's beta flags (`anthropic-beta`), in order. */
function readBetas(header: (name: string) => string | undefined): string[] {
  const value = header(BETA_HEADER)
  if (value === undefined) return []
  return value
    .split(',', BETAS_MAX)
    .map(beta => beta.trim())
    .filter(beta => /^[\x21-\x7e]+$/.test(beta))
}
