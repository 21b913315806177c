/** For clients that speak the chat format, to upstreams that speak the messages format. */

import { objectOrNull } from '../../lib/json.ts'
import { betasToSend } from '../betas.ts'
import type { Translator } from '../translator.ts'
import { convertReply } from './reply.ts'
import { convertRequest } from './request.ts'
import { ChatStream } from './stream.ts'

export const chatViaMessages: Translator = (clientBody, context) => {
  // What reads the reply must not keep the body.
  const { body: upstreamBody, ...request } = convertRequest(clientBody, context)
  const includeUsage = objectOrNull(clientBody.stream_options)?.include_usage === true
  return {
    upstreamBody,
    upstreamBetas: betasToSend(upstreamBody, context.betas, context.target.dialect.betas),
    reply: upstreamReply => convertReply(upstreamReply, request, context),
    stream: onOutput => new ChatStream(request, context, { includeUsage, onOutput }),
  }
}
