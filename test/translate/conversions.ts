/** Creates the object that turns an upstream's stream into the client's, for each pair of upstream format and client format. */

import type { ConversationFormat } from '../../src/conversation/format.ts'
import { OutputGatherer } from '../../src/conversation/output-gatherer.ts'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { NOTHING_TO_UNDO } from '../../src/dialect/types.ts'
import { ChatRelay } from '../../src/formats/chat/relay.ts'
import { FORMATS } from '../../src/formats/index.ts'
import { MessagesRelay } from '../../src/formats/messages/relay.ts'
import { ResponsesRelay } from '../../src/formats/responses/relay.ts'
import { NO_BYTES } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { ConvertedStream, convertReply, type ReplyConversion } from '../../src/translate/converted-stream.ts'
import { contextOf } from './support.ts'

export type Wire = 'messages' | 'chat' | 'responses'
export const WIRES = ['messages', 'chat', 'responses'] as const satisfies readonly Wire[]

/** Counts each character as a token, so that the count equals the length of the output. */
const countTokens = (text: string) => text.length
const billed = (stream: ReplyStream) => ({ usage: stream.usage.usage, estimated: false })
const PASS_THROUGH = { clientModel: 'client', countTokens, usageFacts: {} }

const SAME: Readonly<Record<Wire, () => ReplyStream>> = {
  chat: () => new ChatRelay({ ...PASS_THROUGH, choices: 1, wantsUsage: true, billed }),
  messages: () => new MessagesRelay(PASS_THROUGH),
  responses: () => new ResponsesRelay({ ...PASS_THROUGH, names: null }),
}

const FORMAT_OF: Readonly<Record<Wire, ConversationFormat>> = {
  messages: FORMATS.messages,
  chat: FORMATS.chat_completions,
  responses: FORMATS.responses,
}

const REQUEST = {
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
}
const READ = { openEnvelope: () => null, origin: 'somewhere', toolsLeftOut: null }
const RESPONSES_REQUEST = { stream: true, store: false, input: 'hi', tools: [{ type: 'custom', name: 'write_sql' }] }
const ECHO_OF: Readonly<Record<Wire, () => unknown>> = {
  messages: () => FORMATS.messages.readRequest(REQUEST, READ).echo,
  chat: () => FORMATS.chat_completions.readRequest(REQUEST, READ).echo,
  responses: () => FORMATS.responses.readRequest(RESPONSES_REQUEST, READ).echo,
}

function conversionOf(upstream: Wire, client: Wire): ReplyConversion {
  return {
    client: FORMAT_OF[client],
    upstream: FORMAT_OF[upstream],
    echo: ECHO_OF[client](),
    facts: NOTHING_TO_UNDO,
    context: contextOf({ upstream: upstream === 'messages' ? 'messages' : 'chat_completions' }),
  }
}

function converted(upstream: Wire, client: Wire): ReplyStream {
  const output = new OutputGatherer({ countTokens })
  const stream = new ConvertedStream(conversionOf(upstream, client), text => output.add(text))
  return {
    push: event => (event.hasData ? stream.push(event) : NO_BYTES),
    skim: (all, at, outputBytesMax) => {
      const events = stream.skim(all, at, outputBytesMax)
      if (stream.skimmedText.length > 0) output.addWritten(stream.skimmedText)
      return events
    },
    get skimmedBytes() {
      return stream.skimmedText.length
    },
    get skimmedTo() {
      return stream.skimmedTo
    },
    end: () => stream.end(),
    get finished() {
      return stream.finished
    },
    get usage() {
      return stream.usage
    },
    countOutputTokens: () => output.tokens(),
    estimateOutputTokens: () => output.estimate(),
  }
}

export function openConversion(upstream: Wire, client: Wire): ReplyStream {
  return upstream === client ? SAME[client]() : converted(upstream, client)
}

export function convertWhole(upstream: Wire, client: Wire, reply: JsonObject): JsonObject {
  return convertReply(reply, conversionOf(upstream, client)).body
}
