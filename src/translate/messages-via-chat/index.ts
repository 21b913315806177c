/** For clients that speak the messages format, to upstreams that speak the chat format. */

import type { Translator } from '../translator.ts'
import { convertReply } from './reply.ts'
import { convertRequest } from './request.ts'
import { MessagesStream } from './stream.ts'

export const messagesViaChat: Translator = (clientBody, context) => {
  // What reads the reply must not keep the body.
  const { body: upstreamBody, ...request } = convertRequest(clientBody, context)
  return {
    upstreamBody,
    // Beta flags belong to the messages format.
    upstreamBetas: [],
    reply: upstreamReply => convertReply(upstreamReply, request, context),
    stream: onOutput => new MessagesStream(request, context, onOutput),
  }
}
