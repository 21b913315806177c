/** The sandbox's implementation of the responses format. */

import { chatErrors } from '../chat/errors.ts'
import type { ReplyContext, WireFormat } from '../format.ts'
import { newId } from '../ids.ts'
import type { JsonObject } from '../json.ts'
import { invalid, ProviderError, type ReplyPlan } from '../model.ts'
import { checkResponsesRequest } from './check.ts'
import { checkOutputs, checkReasoningOrder } from './check-items.ts'
import { ResponseMemory } from './memory.ts'
import { inputItems, readResponsesPrompt } from './read.ts'
import { outputItems, responsesErrorEvent, responsesReply, responsesStream } from './write.ts'

/** Creates the format with its own memory of responses; each sandbox needs one. */
export function createResponsesFormat(): WireFormat {
  const memory = new ResponseMemory()

  function conversation(body: JsonObject): JsonObject[] {
    const own = inputItems(body.input).map(item => (item.type === 'item_reference' ? referred(item) : item))
    const previous = body.previous_response_id
    if (typeof previous !== 'string') return own
    const remembered = memory.recall(previous)
    if (remembered !== null) return [...remembered, ...own]
    throw invalid(`Previous response with id '${previous}' not found.`, {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    })
  }

  function referred({ id }: JsonObject): JsonObject {
    const item = memory.recallItem(String(id))
    if (item !== null) return item
    throw new ProviderError(404, 'invalid_request_error', `Item with id '${id}' not found.`, { param: 'input' })
  }

  function finished(plan: ReplyPlan, { body, facts, nowSeconds }: ReplyContext) {
    const options = { body, id: newId('resp_'), createdSeconds: nowSeconds }
    const output = outputItems(plan, body, facts)
    // Providers with readable reasoning do not store responses, so `previous_response_id` never works with them.
    if (body.store !== false && facts.reasoningItems !== 'text') memory.keep(options.id, conversation(body), output)
    return { options, output }
  }

  return {
    ...chatErrors,
    needsVersionHeader: false,
    check: checkResponsesRequest,
    read(body, facts) {
      const items = conversation(body)
      checkOutputs(items)
      checkReasoningOrder(items, facts)
      return readResponsesPrompt(body, items, facts)
    },
    errorEvent: responsesErrorEvent,
    reply(plan, context) {
      const { output, options } = finished(plan, context)
      return responsesReply(plan, output, options)
    },
    stream(plan, context) {
      const { output, options } = finished(plan, context)
      return responsesStream(plan, output, options)
    },
  }
}
