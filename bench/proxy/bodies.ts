/** Builds requests like the ones that coding agents send, in the three chat formats and of exactly the given size. */

import { instructions, prose, type Step, step, type Tool, tool } from './conversation.ts'
import type { Format } from './formats.ts'

export interface BodyOptions {
  readonly model: string
  readonly bytes: number
  readonly streamed: boolean
  /** Whether the request turns reasoning on. Not every upstream format accepts reasoning together with tools. */
  readonly reasons?: boolean
}

interface Talk {
  readonly system: string
  readonly tools: readonly Tool[]
  readonly steps: readonly Step[]
  readonly last: string
}

/**
 * Limits of the system prompt and of the tools: the largest share of the body that each may take up and, for large bodies, the
 * prompt's bytes and the number of tools.
 */
const SYSTEM = { share: 0.16, bytesMax: 14_000 }
const TOOLS = { share: 0.35, countMax: 24 }
const OUTPUT_TOKENS_MAX = 8_192

/**
 * Builds a request of a system prompt and tools, then as many steps of a conversation as fit, and a final question that fills
 * the rest.
 */
export function requestBody(format: Format, options: BodyOptions): Buffer {
  const { bytes } = options
  const size = (talk: Talk) => Buffer.byteLength(JSON.stringify(WRITERS[format](talk, options)))
  const system = instructions(Math.min(bytes * SYSTEM.share, SYSTEM.bytesMax))
  const tools = [tool(0)]
  const steps: Step[] = []
  const talk: Talk = { system, tools, steps, last: '' }
  const room = size({ ...talk, tools: [] }) + bytes * TOOLS.share
  while (tools.length < TOOLS.countMax && size({ ...talk, tools: [...tools, tool(tools.length)] }) < room) {
    tools.push(tool(tools.length))
  }
  let used = size(talk)
  for (;;) {
    const next = step(steps.length)
    const more = size({ ...talk, steps: [next] }) - size({ ...talk, steps: [] })
    if (used + more > bytes) break
    steps.push(next)
    used += more
  }
  // Measure the whole body, so that commas, brackets and escaped quotes count exactly.
  const filled = (count: number) => ({ ...talk, last: prose(count) })
  let count = bytes - size(talk)
  while (count > 0 && size(filled(count)) > bytes) count--
  return Buffer.from(JSON.stringify(WRITERS[format](filled(count), options)))
}

const WRITERS: Readonly<Record<Format, (talk: Talk, options: BodyOptions) => object>> = {
  messages: ({ system, tools, steps, last }, { model, streamed, reasons }) => ({
    model,
    max_tokens: OUTPUT_TOKENS_MAX,
    stream: streamed,
    ...(reasons && { thinking: { type: 'adaptive' } }),
    system: [{ type: 'text', text: system, cache_control: { type: 'ephemeral' } }],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
    messages: messagesTurns(steps, last),
  }),
  chat: ({ system, tools, steps, last }, { model, streamed, reasons }) => ({
    model,
    max_completion_tokens: OUTPUT_TOKENS_MAX,
    stream: streamed,
    ...(streamed && { stream_options: { include_usage: true } }),
    ...(reasons && { reasoning_effort: 'medium' }),
    messages: [
      { role: 'system', content: system },
      ...steps.flatMap(({ user, assistant, call: { id, name, input }, result }) => [
        ...(user === null ? [] : [{ role: 'user', content: user }]),
        {
          role: 'assistant',
          content: assistant,
          tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ]),
      { role: 'user', content: last },
    ],
    tools: tools.map(({ name, description, schema }) => {
      return { type: 'function', function: { name, description, parameters: schema } }
    }),
  }),
  responses: ({ system, tools, steps, last }, { model, streamed }) => ({
    model,
    max_output_tokens: OUTPUT_TOKENS_MAX,
    stream: streamed,
    store: false,
    include: ['reasoning.encrypted_content'],
    parallel_tool_calls: true,
    instructions: system,
    tools: tools.map(({ name, description, schema }) => {
      return { type: 'function', name, description, strict: false, parameters: schema }
    }),
    input: [
      ...steps.flatMap(({ user, assistant, call: { id, name, input }, result }) => [
        ...(user === null ? [] : [{ role: 'user', content: [{ type: 'input_text', text: user }] }]),
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: assistant }] },
        { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
        { type: 'function_call_output', call_id: id, output: result },
      ]),
      { role: 'user', content: [{ type: 'input_text', text: last }] },
    ],
  }),
}

/** Merges a user message that follows a tool result into the same turn, because user and assistant turns must alternate. */
function messagesTurns(steps: readonly Step[], last: string): object[] {
  const turns: object[] = []
  let content: object[] = []
  for (const { user, assistant, call, result } of steps) {
    if (user !== null) content.push({ type: 'text', text: user })
    turns.push({ role: 'user', content })
    turns.push({
      role: 'assistant',
      content: [
        { type: 'text', text: assistant },
        { type: 'tool_use', ...call },
      ],
    })
    content = [{ type: 'tool_result', tool_use_id: call.id, content: result }]
  }
  turns.push({ role: 'user', content: [...content, { type: 'text', text: last }] })
  return turns
}
