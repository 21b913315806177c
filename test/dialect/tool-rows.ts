/** Test rows for the dialect words (settings of an upstream model) that begin with `tools.`; see rows.ts. */

import { expect } from 'vitest'
import {
  BLOCK,
  both,
  CHAT,
  FORCED,
  INPUT,
  idsIn,
  LONG,
  MESSAGES,
  namesIn,
  PICTURE,
  PNG,
  perWire,
  RESPONSES,
  type Row,
  reasons,
  SCHEMA,
  SINGLE,
  withCall,
  withTool,
} from './row-parts.ts'

export const TOOL_ROWS: Readonly<Record<string, Row>> = {
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
      const isAsked = text.includes('Reply with a call of one of your tools, not with text.')
      expect(isAsked, 'a call that is not forced is asked for').toBe(!isForced && !isNamed)
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
      // `word` allows letters, digits, `_` and `-`. Clients of the messages format send no other ids, so it would change
      // nothing.
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
  'tools.arguments': {
    set: [{ tools: { arguments: 'object' } }],
    asks: { [CHAT]: { ...withTool()[CHAT], ...withCall('call_1', {}, '{"a":')[CHAT] } },
    check({ text, dialect }) {
      const wrapped = JSON.stringify({ arguments: JSON.stringify({ _arguments: '{"a":' }) }).slice(1, -1)
      expect(text.includes(wrapped)).toBe(dialect.tools.arguments === 'object')
    },
  },
  'tools.schema': {
    set: [{ tools: { schema: 'no_meta_schema' } }, { tools: { schema: 'explicit_types' } }],
    asks: withTool({
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        ...SCHEMA,
        properties: { ...SCHEMA.properties, level: { enum: ['low'] } },
      },
    }),
    check({ text, dialect }) {
      expect(text.includes('$schema')).toBe(/pass|required/.test(dialect.tools.schema))
      expect(text.includes('"level":{"type":"string","enum":["low"]}')).toBe(dialect.tools.schema === 'explicit_types')
    },
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
}
