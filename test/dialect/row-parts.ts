/**
 * Building blocks for the rows of the dialect matrix (see rows.ts): parts of requests in each format, and functions that find
 * them in the upstream body.
 */

import { expect } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import type { FormatPath, ReplyFacts } from '../../src/dialect/types.ts'
import type { Capability, Dialect, WireName } from '../../src/generated/types.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'

/** The result of applying a dialect to a row's request. */
export interface Seen {
  readonly wire: WireName
  readonly formatPath: FormatPath
  readonly dialect: Dialect
  /** The upstream body; empty if the request was refused. */
  readonly sent: JsonObject
  /** `sent`, serialized. */
  readonly text: string
  readonly refusal: string | null
  readonly betas: readonly string[]
  readonly reply: ReplyFacts | null
}

export type PerWire<Value> = Readonly<Partial<Record<WireName, Value>>>

export interface Row {
  /** Other dialect words that the tested word needs to have any effect, for all upstream formats or per format. */
  readonly base?: Words | PerWire<Words>
  /** The tested dialect word, once per value to test. Each value must change the upstream body. */
  readonly set: readonly Words[] | PerWire<readonly Words[]>
  /** The request in each format, without the fields that all requests have. Formats that cannot express it are left out. */
  readonly asks: PerWire<object>
  /** Client formats for which the row applies only to same-format calls, because a conversion drops the field. */
  readonly ownOnly?: readonly WireName[]
  readonly capabilities?: readonly Capability[]
  readonly betas?: readonly string[]
  readonly check: (seen: Seen) => void
}

export const MESSAGES = 'messages'
export const CHAT = 'chat_completions'
export const RESPONSES = 'responses'

/** Adds the same fields in every format. */
export const same = (fields: object): PerWire<object> => ({ [MESSAGES]: fields, [CHAT]: fields, [RESPONSES]: fields })
export const user = (text: string) => ({ role: 'user', content: text })
export const item = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
export const list = (value: JsonValue | undefined) => (Array.isArray(value) ? value : []) as JsonObject[]
/** The messages or items of the upstream body. */
export const turnsOf = ({ sent }: Seen) => list(sent.messages ?? sent.input)
export const refused = ({ refusal }: Seen, words: string) => expect(refusal).toContain(words)

export const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

export interface ToolSpec {
  readonly name?: string
  readonly strict?: boolean
  readonly schema?: object
}

/** A request with one tool and its settings, in each format. */
export function withTool({ name = 'look', strict, schema = SCHEMA }: ToolSpec = {}, more: PerWire<object> = {}) {
  const mark = strict === undefined ? {} : { strict }
  return {
    [MESSAGES]: { tools: [{ name, input_schema: schema, ...mark }], ...more[MESSAGES] },
    [CHAT]: { tools: [{ type: 'function', function: { name, parameters: schema, ...mark } }], ...more[CHAT] },
    [RESPONSES]: { tools: [{ type: 'function', name, parameters: schema, ...mark }], ...more[RESPONSES] },
  }
}

/** A history with a tool call and its result, in each format. */
export function withCall(
  id: string,
  result: { readonly [Wire in WireName]?: JsonValue } = {},
  args = '{}',
): PerWire<object> {
  const call = { id, type: 'function', function: { name: 'look', arguments: args } }
  return {
    [MESSAGES]: {
      messages: [
        user('hi'),
        { role: 'assistant', content: [{ type: 'tool_use', id, name: 'look', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result[MESSAGES] ?? 'seen' }] },
      ],
    },
    [CHAT]: {
      messages: [
        user('hi'),
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: id, content: result[CHAT] ?? 'seen' },
      ],
    },
    [RESPONSES]: {
      input: [
        item('user', 'hi'),
        { type: 'function_call', call_id: id, name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: id, output: result[RESPONSES] ?? 'seen' },
      ],
    },
  }
}

export const PNG = 'iVBORw0KGgo='
export const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
export const BLOCK = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
export const INPUT = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }

export const content = (messages: object, chat: object, responses: object): PerWire<object> => ({
  [MESSAGES]: { messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, messages] }] },
  [CHAT]: { messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, chat] }] },
  [RESPONSES]: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'see' }, responses] }],
  },
})

/** A request for this effort, as each format writes it. */
export const effort = (level: string): PerWire<object> => ({
  [MESSAGES]: { thinking: { type: 'adaptive' }, output_config: { effort: level } },
  [CHAT]: { reasoning_effort: level },
  [RESPONSES]: { reasoning: { effort: level } },
})
export const budget = (tokens: number): PerWire<object> => ({
  [MESSAGES]: { thinking: { type: 'enabled', budget_tokens: tokens } },
  [CHAT]: { thinking: { type: 'enabled', budget_tokens: tokens } },
})
export const OFF: PerWire<object> = {
  [MESSAGES]: { thinking: { type: 'disabled' } },
  [CHAT]: { reasoning_effort: 'none' },
  [RESPONSES]: { reasoning: { effort: 'none' } },
}
export const both = (...parts: readonly PerWire<object>[]): PerWire<object> =>
  Object.fromEntries(
    [MESSAGES, CHAT, RESPONSES].map(wire => [wire, Object.assign({}, ...parts.map(part => part[wire as WireName]))]),
  )

export const LEVELS = ['low', 'medium', 'high'] as const
export const reasons = (wire: WireName, more: object = {}): Words => ({
  reasoning: { parameter: wire === MESSAGES ? 'adaptive' : 'reasoning_effort', levels: [...LEVELS], ...more },
})
export const perWire = (make: (wire: WireName) => Words): PerWire<Words> => ({
  [MESSAGES]: make(MESSAGES),
  [CHAT]: make(CHAT),
  [RESPONSES]: make(RESPONSES),
})

/** The effort in the upstream body, from whichever field the format has for it. */
export function effortIn({ sent }: Seen): JsonValue | undefined {
  const of = (value: JsonValue | undefined) => (value as JsonObject | undefined)?.effort
  return sent.reasoning_effort ?? of(sent.output_config) ?? of(sent.reasoning)
}
export const budgetIn = ({ sent }: Seen) =>
  (sent.thinking as JsonObject | undefined)?.budget_tokens ?? sent.thinking_budget

/** A conversation that includes reasoning from an earlier reply, in each format. */
export const THOUGHT: PerWire<object> = {
  [MESSAGES]: {
    messages: [
      user('hi'),
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: '' },
          { type: 'text', text: 'ok' },
        ],
      },
      user('go'),
    ],
  },
  [CHAT]: { messages: [user('hi'), { role: 'assistant', content: 'ok', reasoning_content: 'Hm.' }, user('go')] },
  [RESPONSES]: {
    input: [
      item('user', 'hi'),
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm.' }] },
      item('assistant', 'ok'),
      item('user', 'go'),
    ],
  },
}
export const TEXTS: Words = { reasoning: { field: 'item_content' } }

/** Whether each possible place in the upstream body contains the reasoning text of `THOUGHT`. */
export const placesOfThought = (seen: Seen) => ({
  reasoning_content: turnsOf(seen).some(turn => turn.reasoning_content === 'Hm.'),
  reasoning: turnsOf(seen).some(turn => turn.reasoning === 'Hm.'),
  content_parts: turnsOf(seen).some(turn => list(turn.content).some(part => part.type === 'thinking')),
  item_content: turnsOf(seen).some(
    turn => turn.type === 'reasoning' && list(turn.content).some(part => part.text === 'Hm.'),
  ),
})

export const LONG = `mcp__${'server_'.repeat(9)}look`
/** The names of the tools in the upstream body. */
export const namesIn = ({ sent }: Seen) =>
  list(sent.tools).map(tool => String(((tool.function as JsonObject) ?? tool).name))
export const idsIn = (seen: Seen) =>
  [...seen.text.matchAll(/"(?:tool_call_id|tool_use_id|call_id)":"([^"]*)"/g)].map(match => match[1] as string)

export const FORCED: PerWire<object> = {
  [MESSAGES]: { tool_choice: { type: 'any' } },
  [CHAT]: { tool_choice: 'required' },
  [RESPONSES]: { tool_choice: 'required' },
}
export const SINGLE: PerWire<object> = {
  [MESSAGES]: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  [CHAT]: { parallel_tool_calls: false },
  [RESPONSES]: { parallel_tool_calls: false },
}
export const END_USER = (id: string): PerWire<object> => ({
  [MESSAGES]: { metadata: { user_id: id } },
  [CHAT]: { user: id },
  [RESPONSES]: { safety_identifier: id },
})
export const endUserIn = ({ sent }: Seen) =>
  (sent.metadata as JsonObject | undefined)?.user_id ?? sent.user ?? sent.user_id ?? sent.safety_identifier
