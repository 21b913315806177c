/** For clients that speak the chat format, to upstreams that speak the messages format. */

import { objectOrNull } from '../../lib/json.ts'
import { planBetas } from '../betas.ts'
import { applyEdits } from '../body-edit.ts'
import type { Translator } from '../translator.ts'
import { convertReply } from './reply.ts'
import { convertRequest } from './request.ts'
import { ChatStream } from './stream.ts'

export const chatViaMessages: Translator = (clientBody, context) => {
  // What reads the reply must not keep the body.
  const { body: converted, ...request } = convertRequest(clientBody, context)
  const { betas, edits } = planBetas(converted, {
    betas: context.betas,
    edits: [],
    facts: context.target.dialect.betas,
  })
  const includeUsage = objectOrNull(clientBody.stream_options)?.include_usage === true
  return {
    upstreamBody: applyEdits(converted, edits),
    upstreamBetas: betas,
    reply: upstreamReply => convertReply(upstreamReply, request, context),
    stream: onOutput => new ChatStream(request, context, { includeUsage, onOutput }),
  }
}
