/** For each dialect word, a setting of the catalogue: requests that it affects, in each format, and a check of the result. */

import { expect } from 'vitest'
import { REASONING_ROWS } from './reasoning-rows.ts'
import {
  BLOCK,
  CHAT,
  content,
  END_USER,
  effort,
  effortIn,
  endUserIn,
  INPUT,
  item,
  MESSAGES,
  PICTURE,
  PNG,
  RESPONSES,
  type Row,
  reasons,
  refused,
  SCHEMA,
  same,
  turnsOf,
  user,
} from './row-parts.ts'
import { TOOL_ROWS } from './tool-rows.ts'

export const ROWS: Readonly<Record<string, Row>> = {
  ...REASONING_ROWS,
  ...TOOL_ROWS,
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
      if (systemRole === 'instructions' && seen.formatPath === 'converted')
        expect(seen.sent.instructions).toBe('Be brief.')
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
      const { midSystem, alternate } = seen.dialect.turns
      if (midSystem === 'user_text') expect([at, role]).toEqual([alternate ? 0 : 1, 'user'])
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
      // Chat clients set `prefix` or `partial` themselves, so the gateway adds it only to converted calls.
      expect(last?.[prefill]).toBe(seen.formatPath === 'converted' ? true : undefined)
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
    // The gateway inlines the image URLs that it can fetch before it applies the dialect, which refuses all others.
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
      expect(seen.text.includes('JVBERi0=')).toBe(documents === 'file' || documents === 'image_url')
      expect(seen.text.includes('"image_url":{"url":"data:application/pdf;base64,JVBERi0="}')).toBe(
        documents === 'image_url' && seen.wire === CHAT,
      )
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
      if (method === 'tool' && seen.formatPath === 'converted')
        return expect(byTool || seen.reply?.unwrapsFence).toBe(true)
      expect(byTool).toBe(false)
      expect(inWords).toBe(method !== 'native' && method !== 'json_schema')
      expect(seen.reply?.unwrapsFence).toBe(method === 'prompt' || method === 'tool')
      expect(seen.text.includes('"json_object"')).toBe(method === 'json_object')
    },
  },
  'usage.stream_options': {
    set: [{ usage: { stream_options: false } }],
    asks: same({ stream: true }),
    check({ sent, dialect, reply, formatPath }) {
      expect(sent.stream_options).toEqual(dialect.usage.streamOptions ? { include_usage: true } : undefined)
      if (formatPath === 'same') expect(reply?.hidesUsageChunk).toBe(true)
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
