/** The streams that a relay drives: one for each format of an upstream and each format of a client. */

import { OutputGatherer } from '../../src/conversation/output-gatherer.ts'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { ChatPassThrough } from '../../src/translate/pass-through/chat.ts'
import { MessagesPassThrough } from '../../src/translate/pass-through/messages.ts'
import { ResponsesPassThrough } from '../../src/translate/pass-through/responses.ts'
import type { StreamTranslation } from '../../src/translate/translator.ts'
import { chatViaMessages, contextOf, dialectOf, messagesViaChat } from './support.ts'

/** Counts characters, so that what was counted is what was said. */
const countTokens = (text: string) => text.length
const REQUEST = {
  stream: true,
  stream_options: { include_usage: true },
  max_tokens: 100,
  messages: [{ role: 'user', content: 'hi' }],
}
const usageFacts = {}
const billed = (stream: ReplyStream) => ({ usage: stream.usage.usage, estimated: false })

function asReply(translation: (onOutput: (text: string) => void) => StreamTranslation): ReplyStream {
  const output = new OutputGatherer({ countTokens })
  const stream = translation(text => output.add(text))
  return {
    encoding: 'utf8',
    push: event => (event.hasData ? stream.push(event) : ''),
    skim: (all, at) => stream.skim(all, at, text => output.addWritten(text)),
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

export type Wire = 'messages' | 'chat' | 'responses'

/** By the upstream's format, then by the client's. */
export const ROADS: Readonly<Record<Wire, Readonly<Partial<Record<Wire, () => ReplyStream>>>>> = {
  chat: {
    chat: () =>
      new ChatPassThrough({ clientModel: 'client', countTokens, choices: 1, wantsUsage: true, usageFacts, billed }),
    messages: () =>
      asReply(onOutput =>
        messagesViaChat(REQUEST, contextOf({ upstream: 'chat_completions', dialect: dialectOf() })).stream(onOutput),
      ),
  },
  messages: {
    messages: () => new MessagesPassThrough({ clientModel: 'client', countTokens }),
    chat: () =>
      asReply(onOutput =>
        chatViaMessages(REQUEST, contextOf({ upstream: 'messages', dialect: dialectOf() })).stream(onOutput),
      ),
  },
  responses: {
    responses: () => new ResponsesPassThrough({ clientModel: 'client', countTokens, usageFacts }),
  },
}
