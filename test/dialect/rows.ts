/**
 * For each word of the dialect: requests that it affects, in each format, and what must be true of the upstream body.
 */

import { expect } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import type { ReplyFacts, Road } from '../../src/dialect/types.ts'
import type { Capability, Dialect, WireName } from '../../src/generated/types.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'

/** The result of a request. */
export interface Seen {
  readonly wire: WireName
  readonly road: Road
  readonly dialect: Dialect
  /** Empty if it was refused. */
  readonly sent: JsonObject
  /** `sent`, serialized. */
  readonly text: string
  readonly refusal: string | null
  readonly betas: readonly string[]
  readonly reply: ReplyFacts | null
}

type PerWire<Value> = Readonly<Partial<Record<WireName, Value>>>

export interface Row {
  /** Other dialect settings that the word needs to have an effect: for all wires, or per wire. */
  readonly base?: Words | PerWire<Words>
  /** The word with each value that matters; each must change the upstream body. */
  readonly set: readonly Words[] | PerWire<readonly Words[]>
  /** A request per format, besides the common fields; a missing format cannot express it. */
  readonly asks: PerWire<object>
  /** Formats that can request it, where no conversion from another format does. */
  readonly ownOnly?: readonly WireName[]
  readonly capabilities?: readonly Capability[]
  readonly betas?: readonly string[]
  readonly check: (seen: Seen) => void
}

const MESSAGES = 'messages'
const CHAT = 'chat_completions'
const RESPONSES = 'responses'

/** The same fields in every format. */
const same = (fields: object): PerWire<object> => ({ [MESSAGES]: fields, [CHAT]: fields, [RESPONSES]: fields })
const user = (text: string) => ({ role: 'user', content: text })
const item = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})
const list = (value: JsonValue | undefined) => (Array.isArray(value) ? value : []) as JsonObject[]
/** Messages or items. */
const turnsOf = ({ sent }: Seen) => list(sent.messages ?? sent.input)
const refused = ({ refusal }: Seen, words: string) => expect(refusal).toContain(words)

const SCHEMA = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

interface ToolSpec {
  readonly name?: string
  readonly strict?: boolean
  readonly schema?: object
}

/** One tool and its settings, in each format. */
function withTool({ name = 'look', strict, schema = SCHEMA }: ToolSpec = {}, more: PerWire<object> = {}) {
  const mark = strict === undefined ? {} : { strict }
  return {
    [MESSAGES]: { tools: [{ name, input_schema: schema, ...mark }], ...more[MESSAGES] },
    [CHAT]: { tools: [{ type: 'function', function: { name, parameters: schema, ...mark } }], ...more[CHAT] },
    [RESPONSES]: { tools: [{ type: 'function', name, parameters: schema, ...mark }], ...more[RESPONSES] },
  }
}

/** A call and its result in the history. */
function withCall(id: string, result: { readonly [Wire in WireName]?: JsonValue } = {}): PerWire<object> {
  const call = { id, type: 'function', function: { name: 'look', arguments: '{}' } }
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

const PNG = 'iVBORw0KGgo='
const PICTURE = { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } }
const BLOCK = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } }
const INPUT = { type: 'input_image', image_url: `data:image/png;base64,${PNG}` }

const content = (messages: object, chat: object, responses: object): PerWire<object> => ({
  [MESSAGES]: { messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, messages] }] },
  [CHAT]: { messages: [{ role: 'user', content: [{ type: 'text', text: 'see' }, chat] }] },
  [RESPONSES]: {
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'see' }, responses] }],
  },
})

/** A requested effort, as each format writes it. */
const effort = (level: string): PerWire<object> => ({
  [MESSAGES]: { thinking: { type: 'adaptive' }, output_config: { effort: level } },
  [CHAT]: { reasoning_effort: level },
  [RESPONSES]: { reasoning: { effort: level } },
})
const budget = (tokens: number): PerWire<object> => ({
  [MESSAGES]: { thinking: { type: 'enabled', budget_tokens: tokens } },
  [CHAT]: { thinking: { type: 'enabled', budget_tokens: tokens } },
})
const OFF: PerWire<object> = {
  [MESSAGES]: { thinking: { type: 'disabled' } },
  [CHAT]: { reasoning_effort: 'none' },
  [RESPONSES]: { reasoning: { effort: 'none' } },
}
const both = (...parts: readonly PerWire<object>[]): PerWire<object> =>
  Object.fromEntries(
    [MESSAGES, CHAT, RESPONSES].map(wire => [wire, Object.assign({}, ...parts.map(part => part[wire as WireName]))]),
  )

const LEVELS = ['low', 'medium', 'high'] as const
const reasons = (wire: WireName, more: object = {}): Words => ({
  reasoning: { parameter: wire === MESSAGES ? 'adaptive' : 'reasoning_effort', levels: [...LEVELS], ...more },
})
const perWire = (make: (wire: WireName) => Words): PerWire<Words> => ({
  [MESSAGES]: make(MESSAGES),
  [CHAT]: make(CHAT),
  [RESPONSES]: make(RESPONSES),
})

/** The effort sent upstream, wherever the wire has it. */
function effortIn({ sent }: Seen): JsonValue | undefined {
  const of = (value: JsonValue | undefined) => (value as JsonObject | undefined)?.effort
  return sent.reasoning_effort ?? of(sent.output_config) ?? of(sent.reasoning)
}
const budgetIn = ({ sent }: Seen) => (sent.thinking as JsonObject | undefined)?.budget_tokens ?? sent.thinking_budget

/** Reasoning of an earlier reply. */
const THOUGHT: PerWire<object> = {
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
const TEXTS: Words = { reasoning: { field: 'item_content' } }

/** Where each wire may have reasoning text. */
const placesOfThought = (seen: Seen) => ({
  reasoning_content: turnsOf(seen).some(turn => turn.reasoning_content === 'Hm.'),
  reasoning: turnsOf(seen).some(turn => turn.reasoning === 'Hm.'),
  content_parts: turnsOf(seen).some(turn => list(turn.content).some(part => part.type === 'thinking')),
  item_content: turnsOf(seen).some(
    turn => turn.type === 'reasoning' && list(turn.content).some(part => part.text === 'Hm.'),
  ),
})

const LONG = `mcp__${'server_'.repeat(9)}look`
/** Names of tools sent upstream. */
const namesIn = ({ sent }: Seen) => list(sent.tools).map(tool => String(((tool.function as JsonObject) ?? tool).name))
const idsIn = (seen: Seen) =>
  [...seen.text.matchAll(/"(?:tool_call_id|tool_use_id|call_id)":"([^"]*)"/g)].map(match => match[1] as string)

const FORCED: PerWire<object> = {
  [MESSAGES]: { tool_choice: { type: 'any' } },
  [CHAT]: { tool_choice: 'required' },
  [RESPONSES]: { tool_choice: 'required' },
}
const SINGLE: PerWire<object> = {
  [MESSAGES]: { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  [CHAT]: { parallel_tool_calls: false },
  [RESPONSES]: { parallel_tool_calls: false },
}
const END_USER = (id: string): PerWire<object> => ({
  [MESSAGES]: { metadata: { user_id: id } },
  [CHAT]: { user: id },
  [RESPONSES]: { safety_identifier: id },
})
const endUserIn = ({ sent }: Seen) =>
  (sent.metadata as JsonObject | undefined)?.user_id ?? sent.user ?? sent.user_id ?? sent.safety_identifier

const budgetRow = (level: 'low' | 'medium' | 'high', tokens: number): Row => ({
  base: {
    [MESSAGES]: { reasoning: { parameter: 'budget' } },
    [CHAT]: { reasoning: { parameter: 'enable_thinking', budget_field: 'thinking_budget' } },
  },
  set: [{ reasoning: { budgets: { [level]: tokens } } }],
  asks: effort(level),
  check: seen => {
    const { parameter, budgetField } = seen.dialect.reasoning
    const isTold = parameter === 'budget' || (parameter === 'enable_thinking' && budgetField !== null)
    if (isTold) expect(budgetIn(seen)).toBe(seen.dialect.reasoning.budgets[level])
  },
})

const floorRow = (floor: 'medium' | 'high', tokens: number, asked: number): Row => ({
  base: perWire(wire => reasons(wire, wire === MESSAGES ? { budget_accepted: false } : {})),
  set: [{ reasoning: { budget_floors: { [floor]: tokens } } }],
  asks: budget(asked),
  check: seen => {
    const { budgetFloors, parameter, levels } = seen.dialect.reasoning
    if (parameter !== 'reasoning_effort' || levels === null) return
    const level = asked < budgetFloors.medium ? 'low' : asked < budgetFloors.high ? 'medium' : 'high'
    if (levels.includes(level)) expect(effortIn(seen)).toBe(level)
  },
})

export const ROWS: Readonly<Record<string, Row>> = {
  'output.cap_field': {
    set: [{ output: { cap_field: 'max_completion_tokens' } }],
    asks: same({}),
    check({ sent, dialect: { output } }) {
      const other = output.capField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
      expect([sent[output.capField], sent[other]]).toEqual([30_000, undefined])
    },
  },
  'output.cap_min': {
    set: [{ output: { cap_min: 16 } }],
    asks: { [MESSAGES]: { max_tokens: 3 }, [CHAT]: { max_tokens: 3 }, [RESPONSES]: { max_output_tokens: 3 } },
    check: ({ sent, dialect }) =>
      expect(sent.max_tokens ?? sent.max_completion_tokens ?? sent.max_output_tokens).toBe(dialect.output.capMin ?? 3),
  },
  'turns.system_role': {
    set: [{ turns: { system_role: 'developer' } }],
    asks: {
      [MESSAGES]: { system: 'Be brief.' },
      [CHAT]: { messages: [{ role: 'developer', content: 'Be brief.' }, user('hi')] },
      [RESPONSES]: { input: [item('developer', 'Be brief.'), item('user', 'hi')] },
    },
    check(seen) {
      const { systemRole } = seen.dialect.turns
      if (systemRole === 'instructions' && seen.road === 'converted') expect(seen.sent.instructions).toBe('Be brief.')
      else if (systemRole !== 'instructions') expect(turnsOf(seen)[0]?.role).toBe(systemRole)
    },
  },
  'turns.mid_system': {
    set: [{ turns: { mid_system: 'hoist' } }, { turns: { mid_system: 'user_text' } }],
    asks: {
      [MESSAGES]: {
        messages: [user('hi'), { role: 'system', content: 'Late.' }, { role: 'assistant', content: 'ok' }, user('go')],
      },
      [CHAT]: {
        messages: [user('hi'), { role: 'system', content: 'Late.' }, { role: 'assistant', content: 'ok' }, user('go')],
      },
      [RESPONSES]: {
        input: [item('user', 'hi'), item('developer', 'Late.'), item('assistant', 'ok'), item('user', 'go')],
      },
    },
    check(seen) {
      const at = turnsOf(seen).findIndex(turn => JSON.stringify(turn).includes('Late.'))
      const role = turnsOf(seen)[at]?.role
      const { midSystem } = seen.dialect.turns
      if (midSystem === 'user_text') expect([at, role]).toEqual([1, 'user'])
      if (midSystem === 'hoist') expect(at <= 0 && role !== 'user', seen.text).toBe(true)
      expect(seen.text).toContain('Late.')
    },
  },
  'turns.alternate': {
    set: [{ turns: { alternate: true } }],
    asks: {
      [MESSAGES]: { messages: [user('hi'), user('there')] },
      [CHAT]: { messages: [user('hi'), user('there')] },
      [RESPONSES]: { input: [item('user', 'hi'), item('user', 'there')] },
    },
    check: seen => expect(turnsOf(seen)).toHaveLength(seen.dialect.turns.alternate ? 1 : 2),
  },
  'turns.prefill': {
    set: {
      [MESSAGES]: [{ turns: { prefill: 'user_turn' } }, { turns: { prefill: 'continue' } }],
      [CHAT]: [{ turns: { prefill: 'user_turn' } }],
      [RESPONSES]: [{ turns: { prefill: 'user_turn' } }],
    },
    asks: {
      [MESSAGES]: { messages: [user('hi'), { role: 'assistant', content: 'I ' }] },
      [CHAT]: { messages: [user('hi'), { role: 'assistant', content: 'I ' }] },
      [RESPONSES]: { input: [item('user', 'hi'), item('assistant', 'I ')] },
    },
    check(seen) {
      const { prefill } = seen.dialect.turns
      const last = turnsOf(seen).at(-1)
      if (prefill === 'unsupported' && seen.wire === MESSAGES) refused(seen, 'prefill')
      else expect(last?.role).toBe(prefill === 'user_turn' ? 'user' : 'assistant')
      if (seen.wire !== CHAT || (prefill !== 'prefix' && prefill !== 'partial')) return
      // Clients of the chat format set the flag themselves.
      expect(last?.[prefill]).toBe(seen.road === 'converted' ? true : undefined)
    },
  },
  'turns.threads': {
    set: [{ turns: { threads: true } }],
    asks: { [MESSAGES]: { thread: { type: 'create' } } },
    check: seen => expect(seen.refusal === null).toBe(seen.dialect.turns.threads),
  },
  'content.text': {
    set: [{ content: { text: 'string' } }],
    asks: content({ type: 'text', text: 'this' }, { type: 'text', text: 'this' }, { type: 'input_text', text: 'this' }),
    check: seen => {
      if (seen.dialect.content.text === 'string') expect(turnsOf(seen)[0]?.content).toBe('see\n\nthis')
    },
  },
  'content.image_url': {
    set: [{ content: { image_url: 'reject' } }, { content: { image_url: 'inline' } }],
    asks: content(
      { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'input_image', image_url: 'https://example.com/a.png' },
    ),
    // Fetched images replaced their URLs before this.
    check: seen =>
      seen.dialect.content.imageUrl === 'pass' ? expect(seen.refusal).toBeNull() : refused(seen, 'image URLs'),
  },
  'content.images_unsupported': {
    set: [{ content: { images_unsupported: 'placeholder' } }],
    asks: content(BLOCK, PICTURE, INPUT),
    capabilities: [],
    check(seen) {
      if (seen.dialect.content.imagesUnsupported === 'reject') return refused(seen, 'capability_rejected: image_block')
      expect(seen.text).toContain('image omitted')
      expect(seen.text).not.toContain(PNG)
    },
  },
  'content.documents': {
    set: [{ content: { documents: 'placeholder' } }, { content: { documents: 'reject' } }],
    asks: content(
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    ),
    check(seen) {
      const { documents } = seen.dialect.content
      if (documents === 'reject') return refused(seen, 'capability_rejected: document_block')
      expect(seen.text.includes('JVBERi0=')).toBe(documents === 'file')
      expect(seen.text.includes('omitted')).toBe(documents === 'placeholder')
    },
  },
  'content.cache_control': {
    set: [{ content: { cache_control: 'pass' } }],
    asks: {
      [MESSAGES]: { system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
      [CHAT]: {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'hi', cache_control: { type: 'ephemeral' } }] }],
      },
    },
    check: seen => expect(seen.text.includes('cache_control')).toBe(seen.dialect.content.cacheControl === 'pass'),
  },
  'sampling.parameters': {
    set: [{ sampling: { parameters: null } }, { sampling: { parameters: 'temperature_xor_top_p' } }],
    asks: same({ temperature: 0.5, top_p: 0.9 }),
    check({ sent, dialect: { sampling, reasoning } }) {
      if (sampling.parameters === null) expect([sent.temperature, sent.top_p]).toEqual([undefined, undefined])
      if (sampling.parameters === 'temperature_xor_top_p') expect(sent.top_p).toBeUndefined()
      if (sampling.parameters === 'all_unless_thinking' && reasoning.byDefault) expect(sent.temperature).toBeUndefined()
    },
  },
  'sampling.temperature_max': {
    set: [{ sampling: { temperature_max: 0.7 } }],
    asks: { [MESSAGES]: { temperature: 1 }, [CHAT]: { temperature: 1.9 }, [RESPONSES]: { temperature: 1.9 } },
    check: ({ sent, dialect }) =>
      expect(Number(sent.temperature ?? 0)).toBeLessThanOrEqual(dialect.sampling.temperatureMax),
  },
  'sampling.top_k': {
    set: [{ sampling: { top_k: true } }],
    asks: same({ top_k: 5 }),
    ownOnly: [RESPONSES],
    check({ sent, dialect: { sampling, reasoning } }) {
      const isClosed = sampling.parameters !== 'all' || reasoning.byDefault
      if (!sampling.topK || !isClosed) expect(sent.top_k).toBe(sampling.topK ? 5 : undefined)
    },
  },
  'sampling.stop_max': {
    set: [{ sampling: { stop_max: 1 } }, { sampling: { stop_max: 0 } }],
    asks: { [MESSAGES]: { stop_sequences: ['a', 'b'] }, [CHAT]: { stop: ['a', 'b'] } },
    check(seen) {
      if (seen.dialect.sampling.stopMax < 2) return refused(seen, 'stop sequences')
      expect(seen.sent.stop ?? seen.sent.stop_sequences).toEqual(['a', 'b'])
    },
  },
  'reasoning.parameter': {
    set: {
      [MESSAGES]: [{ reasoning: { parameter: 'budget' } }, { reasoning: { parameter: 'adaptive' } }],
      [CHAT]: [
        { reasoning: { parameter: 'reasoning_effort', levels: [...LEVELS] } },
        { reasoning: { parameter: 'thinking_type' } },
        { reasoning: { parameter: 'enable_thinking' } },
      ],
      [RESPONSES]: [{ reasoning: { parameter: 'reasoning_effort', levels: [...LEVELS] } }],
    },
    asks: effort('medium'),
    check({ wire, sent, dialect: { reasoning } }) {
      const thinking = sent.thinking as JsonObject | undefined
      switch (reasoning.parameter) {
        case 'budget':
          return expect(thinking?.type).toBe('enabled')
        case 'adaptive':
          return expect(thinking?.type).toBe('adaptive')
        case 'enable_thinking':
          return expect(typeof sent.enable_thinking).toBe('boolean')
        case 'thinking_type':
          if (wire === CHAT && reasoning.disable !== 'refused') expect(thinking).toEqual({ type: 'enabled' })
          return
        case 'reasoning_effort':
          if (wire === CHAT && reasoning.levels !== null) expect(reasoning.levels).toContain(sent.reasoning_effort)
          return expect(thinking).toBeUndefined()
        default:
          expect([thinking, sent.reasoning_effort, sent.reasoning, sent.output_config]).toEqual(
            Array(4).fill(undefined),
          )
      }
    },
  },
  'reasoning.levels': {
    base: perWire(wire => reasons(wire)),
    set: [{ reasoning: { levels: ['high'] } }],
    asks: effort('low'),
    check(seen) {
      const { levels, parameter } = seen.dialect.reasoning
      const sent = effortIn(seen)
      if (levels === null) expect(sent).toBeUndefined()
      else if (parameter === 'reasoning_effort' || parameter === 'adaptive') expect(levels).toContain(sent)
    },
  },
  'reasoning.by_default': {
    base: perWire(wire => ({ ...reasons(wire), sampling: { parameters: 'all_unless_thinking' } })),
    set: [{ reasoning: { by_default: true } }],
    asks: same({ temperature: 0.5 }),
    check({ sent, dialect: { sampling, reasoning } }) {
      if (sampling.parameters === 'all_unless_thinking')
        expect(sent.temperature).toBe(reasoning.byDefault ? undefined : 0.5)
    },
  },
  'reasoning.disable': {
    base: {
      [MESSAGES]: reasons(MESSAGES),
      [CHAT]: { reasoning: { parameter: 'thinking_type', levels: [...LEVELS] } },
      [RESPONSES]: { reasoning: { parameter: 'thinking_type', levels: [...LEVELS] } },
    },
    set: [{ reasoning: { disable: 'refused' } }],
    asks: OFF,
    check(seen) {
      const { disable, levels } = seen.dialect.reasoning
      if (disable !== 'refused') return
      expect(seen.text).not.toContain('"disabled"')
      expect(seen.sent.enable_thinking).not.toBe(false)
      if (levels !== null && !levels.includes('none')) expect(effortIn(seen)).not.toBe('none')
    },
  },
  'reasoning.display': {
    base: reasons(MESSAGES, { budget_accepted: false }),
    set: [{ reasoning: { display: 'on_request' } }],
    asks: { ...effort('high'), [MESSAGES]: { thinking: { type: 'enabled', budget_tokens: 2000 } } },
    check({ sent, dialect: { reasoning } }) {
      const thinking = sent.thinking as JsonObject | undefined
      if (thinking?.type === 'adaptive')
        expect(thinking.display).toBe(reasoning.display === 'on_request' ? 'summarized' : undefined)
    },
  },
  'reasoning.budget_accepted': {
    base: reasons(MESSAGES),
    set: [{ reasoning: { budget_accepted: false } }],
    asks: budget(2000),
    check({ sent, dialect: { reasoning } }) {
      if (reasoning.parameter !== 'adaptive') return
      expect((sent.thinking as JsonObject).type).toBe(reasoning.budgetAccepted ? 'enabled' : 'adaptive')
    },
  },
  'reasoning.budget_field': {
    base: { reasoning: { parameter: 'enable_thinking' } },
    set: [{ reasoning: { budget_field: 'thinking_budget' } }],
    asks: effort('low'),
    check: ({ sent, dialect: { reasoning } }) =>
      expect(sent.thinking_budget).toBe(reasoning.budgetField === null ? undefined : reasoning.budgets.low),
  },
  'reasoning.stream_only': {
    base: { reasoning: { parameter: 'enable_thinking' } },
    set: [{ reasoning: { stream_only: true } }],
    asks: effort('low'),
    check: ({ sent, dialect }) => expect(sent.enable_thinking).toBe(!dialect.reasoning.streamOnly),
  },
  'reasoning.beside_tools': {
    base: perWire(wire => reasons(wire)),
    set: [{ reasoning: { beside_tools: 'refused' } }, { reasoning: { beside_tools: 'explicit_none' } }],
    asks: both(withTool(), effort('low')),
    check(seen) {
      const { besideTools } = seen.dialect.reasoning
      if (besideTools !== 'accepted') expect(effortIn(seen)).toBe(besideTools === 'refused' ? undefined : 'none')
    },
  },
  'reasoning.budgets.low': budgetRow('low', 3000),
  'reasoning.budgets.medium': budgetRow('medium', 4000),
  'reasoning.budgets.high': budgetRow('high', 4500),
  'reasoning.budget_floors.medium': floorRow('medium', 3000, 3500),
  'reasoning.budget_floors.high': floorRow('high', 4200, 4500),
  'reasoning.field': {
    base: { reasoning: { echo: 'if_present' } },
    set: {
      [CHAT]: [{ reasoning: { field: 'reasoning' } }, { reasoning: { field: 'content_parts' } }],
      [RESPONSES]: [TEXTS],
    },
    asks: THOUGHT,
    check(seen) {
      const { echo, field } = seen.dialect.reasoning
      const places = Object.entries(placesOfThought(seen)).flatMap(([place, isThere]) => (isThere ? [place] : []))
      if (echo !== 'never' && (seen.wire === CHAT || field === 'item_content')) expect(places).toEqual([field])
    },
  },
  'reasoning.tag': {
    set: [{ reasoning: { tag: 'think' } }],
    asks: same({}),
    check: seen => expect(seen.reply?.tag).toBe(seen.dialect.reasoning.tag),
  },
  'reasoning.echo': {
    base: { [RESPONSES]: TEXTS },
    set: [{ reasoning: { echo: 'always' } }, { reasoning: { echo: 'if_present' } }],
    asks: THOUGHT,
    check(seen) {
      const { echo, field } = seen.dialect.reasoning
      if (seen.wire === CHAT || field === 'item_content') expect(placesOfThought(seen)[field]).toBe(echo !== 'never')
    },
  },
  'reasoning.echo_placeholder': {
    base: {
      [CHAT]: { reasoning: { echo: 'always' } },
      [RESPONSES]: { reasoning: { echo: 'always', field: 'item_content' } },
    },
    set: [{ reasoning: { echo_placeholder: '(none)' } }],
    asks: both(withTool(), withCall('call_1')),
    check(seen) {
      const { echo, echoPlaceholder } = seen.dialect.reasoning
      if (echo === 'always' && echoPlaceholder !== null) expect(seen.text).toContain(`:"${echoPlaceholder}"`)
    },
  },
  'tools.forced': {
    base: perWire(wire => ({ reasoning: { ...reasons(wire).reasoning, by_default: true, disable: 'refused' } })),
    set: [
      { tools: { forced: 'refused' } },
      { tools: { forced: 'named_only' } },
      { tools: { forced: 'not_with_thinking' } },
    ],
    asks: both(withTool(), FORCED),
    check({ text, dialect: { tools } }) {
      const isForced = /"tool_choice":("required"|\{"type":"any")/.test(text)
      const isNamed = /"tool_choice":\{[^}]*"name":"look"/.test(text)
      if (tools.forced === 'named_only') expect(isNamed).toBe(true)
      if (tools.forced === 'refused') expect([isForced, isNamed]).toEqual([false, false])
      if (tools.forced === 'accepted') expect(isForced).toBe(true)
    },
  },
  'tools.parallel_flag': {
    set: [{ tools: { parallel_flag: false } }],
    asks: both(withTool(), SINGLE),
    check: ({ text, dialect }) => expect(/parallel/.test(text)).toBe(dialect.tools.parallelFlag),
  },
  'tools.name_max': {
    set: [{ tools: { name_max: 32 } }],
    asks: withTool({ name: LONG }),
    check(seen) {
      const [name = ''] = namesIn(seen)
      expect(name.length).toBeLessThanOrEqual(seen.dialect.tools.nameMax)
      expect(seen.reply?.names?.client(name) ?? name, 'the reply gives the client its own name').toBe(LONG)
    },
  },
  'tools.name_start': {
    set: [{ tools: { name_start: 'letter' } }],
    asks: withTool({ name: '1_look' }),
    check(seen) {
      const [name = ''] = namesIn(seen)
      expect(/^[a-z]/i.test(name)).toBe(seen.dialect.tools.nameStart === 'letter')
      expect(seen.reply?.names?.client(name) ?? name).toBe('1_look')
    },
  },
  'tools.call_id': {
    base: { [MESSAGES]: {} },
    set: {
      // Clients of this format know its form of ids.
      [MESSAGES]: [{ tools: { call_id: 'alphanumeric_9' } }],
      [CHAT]: [{ tools: { call_id: 'word' } }, { tools: { call_id: 'alphanumeric_9' } }],
      [RESPONSES]: [{ tools: { call_id: 'word' } }, { tools: { call_id: 'alphanumeric_9' } }],
    },
    asks: both(withTool(), withCall('functions.look:0')),
    check(seen) {
      const ids = idsIn(seen)
      const form = { any: /./, word: /^[\w-]{1,64}$/, alphanumeric_9: /^[a-z0-9]{9}$/i }[seen.dialect.tools.callId]
      for (const id of ids) expect(id).toMatch(form)
      expect(ids.length).toBeGreaterThan(0)
      const [id] = ids
      expect(seen.text.split(`"${id}"`), 'the call and its result').toHaveLength(3)
    },
  },
  'tools.schema': {
    set: [{ tools: { schema: 'no_meta_schema' } }],
    asks: withTool({ schema: { $schema: 'https://json-schema.org/draft/2020-12/schema', ...SCHEMA } }),
    check: ({ text, dialect }) => expect(text.includes('$schema')).toBe(dialect.tools.schema === 'pass'),
  },
  'tools.strict': {
    set: [{ tools: { strict: 'drop' } }],
    asks: withTool({ strict: true }),
    check: ({ text, dialect }) => expect(text.includes('"strict":true')).toBe(dialect.tools.strict === 'pass'),
  },
  'tools.result_images': {
    set: [{ tools: { result_images: 'native' } }, { tools: { result_images: 'placeholder' } }],
    asks: both(withTool(), withCall('call_1', { [MESSAGES]: [BLOCK], [CHAT]: [PICTURE], [RESPONSES]: [INPUT] })),
    check(seen) {
      const { resultImages } = seen.dialect.tools
      expect(seen.text.includes(PNG)).toBe(resultImages !== 'placeholder')
      expect(seen.text.includes('Attached to the result of tool call call_1')).toBe(resultImages === 'following_user')
    },
  },
  'tools.signature.path': {
    base: { tools: { signature: { placeholder: 'skip' } } },
    set: [{ tools: { signature: { path: '/extra/signature', placeholder: 'skip' } } }],
    asks: both(withTool(), withCall('call_1')),
    check: ({ text, dialect: { tools } }) =>
      expect(text.includes(`:"${tools.signature.placeholder}"`)).toBe(tools.signature.path !== null),
  },
  'tools.signature.placeholder': {
    base: { tools: { signature: { path: '/extra/signature' } } },
    set: [{ tools: { signature: { path: '/extra/signature', placeholder: 'skip' } } }],
    asks: both(withTool(), withCall('call_1')),
    check({ text, dialect: { tools } }) {
      if (tools.signature.placeholder !== null) expect(text).toContain(`:"${tools.signature.placeholder}"`)
    },
  },
  'structured_output.method': {
    set: {
      [MESSAGES]: [{ structured_output: { method: 'tool' } }, { structured_output: { method: 'prompt' } }],
      [CHAT]: [
        { structured_output: { method: 'json_object' } },
        { structured_output: { method: 'tool' } },
        { structured_output: { method: 'prompt' } },
      ],
      [RESPONSES]: [{ structured_output: { method: 'json_object' } }, { structured_output: { method: 'prompt' } }],
    },
    asks: {
      [MESSAGES]: { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
      [CHAT]: { response_format: { type: 'json_schema', json_schema: { name: 'n', schema: SCHEMA } } },
      [RESPONSES]: { text: { format: { type: 'json_schema', name: 'n', schema: SCHEMA } } },
    },
    check(seen) {
      const { method } = seen.dialect.structuredOutput
      const inWords = seen.text.includes('Reply with one JSON object')
      const byTool = seen.reply?.replyTool !== null
      if (method === 'tool' && seen.road === 'converted') return expect(byTool || seen.reply?.unwrapsFence).toBe(true)
      expect(byTool).toBe(false)
      expect(inWords).toBe(method !== 'native' && method !== 'json_schema')
      expect(seen.reply?.unwrapsFence).toBe(method === 'prompt' || method === 'tool')
      expect(seen.text.includes('"json_object"')).toBe(method === 'json_object')
    },
  },
  'usage.stream_options': {
    set: [{ usage: { stream_options: false } }],
    asks: same({ stream: true }),
    check({ sent, dialect, reply, road }) {
      expect(sent.stream_options).toEqual(dialect.usage.streamOptions ? { include_usage: true } : undefined)
      if (road === 'same') expect(reply?.hidesUsageChunk).toBe(true)
    },
  },
  'end_user.field': {
    set: {
      [MESSAGES]: [{ end_user: { field: null } }],
      [CHAT]: [
        { end_user: { field: null } },
        { end_user: { field: 'user_id' } },
        { end_user: { field: 'safety_identifier' } },
      ],
      [RESPONSES]: [{ end_user: { field: null } }],
    },
    asks: END_USER('u1'),
    check(seen) {
      const { field } = seen.dialect.endUser
      if (field === null) return expect(seen.text).not.toContain('u1')
      if (seen.wire === CHAT) expect(seen.sent[field]).toBe('u1')
      expect(seen.text.split('"u1"')).toHaveLength(2)
    },
  },
  'end_user.length_max': {
    set: [{ end_user: { length_max: 10 } }],
    asks: END_USER('u'.repeat(600)),
    check: seen => expect(String(endUserIn(seen) ?? '').length).toBeLessThanOrEqual(seen.dialect.endUser.lengthMax),
  },
  'end_user.characters': {
    set: [{ end_user: { characters: 'word' } }],
    asks: END_USER('người dùng'),
    check(seen) {
      const id = endUserIn(seen)
      if (seen.dialect.endUser.field !== null)
        expect(id === 'người dùng').toBe(seen.dialect.endUser.characters === 'any')
    },
  },
  'betas.unlisted': {
    set: [{ betas: { unlisted: 'drop' } }],
    asks: { [MESSAGES]: {} },
    betas: ['some-flag'],
    check: seen => expect(seen.betas.includes('some-flag')).toBe(seen.dialect.betas.unlisted === 'pass'),
  },
  'betas.flags': {
    set: [{ betas: { flags: { 'some-flag': { name: null, fields: ['/speed'] } } } }],
    asks: { [MESSAGES]: { speed: 'fast' } },
    betas: ['some-flag'],
    check({ sent, betas, dialect }) {
      const flag = dialect.betas.flags['some-flag']
      if (flag === undefined) return
      expect([sent.speed, betas]).toEqual([undefined, []])
    },
  },
  'betas.effort': {
    base: reasons(MESSAGES),
    set: [{ betas: { effort: 'effort-flag' } }],
    asks: effort('low'),
    check(seen) {
      const flag = seen.dialect.betas.effort
      if (flag !== null) expect(seen.betas.includes(flag)).toBe(effortIn(seen) !== undefined)
    },
  },
}
