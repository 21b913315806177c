/** Helpers for tests: a writer of responses, and a reply with every kind of part. */

import { ResponsesWriter } from '../../src/formats/responses/write-reply.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { strictResponse } from './responses-grammar.ts'
import { call, delta, echoOf, factsOf, open, part, type Step } from './responses-support.ts'

export const writer = (echo = echoOf()) => new ResponsesWriter(echo, factsOf())
export const outputOf = (sse: string) => strictResponse(sse).output as JsonObject[]

export const SIGNATURE = { wire: 'messages', signature: 'EqQB' } as const
export const THOUGHT: Step[] = [
  open({ kind: 'reasoning' }),
  delta('First, '),
  delta('look.'),
  { do: 'startSection' },
  delta('Then "act".\n🙂'),
  { do: 'close', seal: SIGNATURE },
]
export const RICH: Step[] = [
  ...THOUGHT,
  ...part('text', 'I look ', 'it up: đồng'),
  ...call('look_up', 'call_1', '{"city":', '"Hà Nội"}'),
  ...call('mcp__files__read', 'call_2', '{}'),
  ...call('apply_patch', 'call_3', '{"input":"*** Begin', ' Patch\\n"}'),
  ...call('tool_search', 'call_4', '{"query":"mail"}'),
  ...part('text', 'Done.'),
]

export function message(id: string, text: string): JsonObject {
  return {
    id,
    type: 'message',
    status: 'completed',
    role: 'assistant',
    content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
  }
}
