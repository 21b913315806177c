/**
 * The dialect pass keeps every byte that it has no reason to change: unknown members, odd spacing, numbers too large for a
 * double, and keys like `__proto__`.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import { GatewayError } from '../../src/errors.ts'
import { decodeText, encodeText, joinBytes } from '../../src/lib/byte-text.ts'
import { parseExactJson } from '../../src/lib/exact-json.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { editMembers } from '../../src/lib/json-members.ts'
import { editJson, membersOf } from '../../src/lib/json-text.ts'
import { planSameFormat, type SameFormatPlan } from '../../src/translate/same-format.ts'
import type { ChatFormat } from '../../src/translate/translator.ts'
import { dialectOf } from '../translate/support.ts'

/** Dialects that accept the bodies in this file unchanged. */
const IDLE: Readonly<Record<ChatFormat, Words>> = {
  messages: { turns: { threads: true, prefill: 'continue' }, sampling: { top_k: true } },
  chat_completions: {
    turns: { system_role: 'developer' },
    reasoning: { echo: 'if_present' },
    sampling: { top_k: true },
  },
}
/** A dialect that triggers nearly every rewrite. */
const BUSY: Words = {
  output: { cap_field: 'max_completion_tokens', cap_min: 99 },
  turns: { mid_system: 'hoist', prefill: 'user_turn', alternate: true },
  content: { images_unsupported: 'placeholder', documents: 'placeholder' },
  sampling: { parameters: null },
  reasoning: { echo: 'always', field: 'reasoning' },
  tools: {
    parallel_flag: false,
    name_max: 20,
    name_start: 'letter',
    call_id: 'alphanumeric_9',
    schema: 'no_meta_schema',
    strict: 'drop',
  },
  structured_output: { method: 'prompt' },
  usage: { stream_options: false },
  end_user: { field: null },
}

/** JSON texts that change if they are parsed and serialized again. */
const raw = fc.oneof(
  fc.constantFrom(
    '1.50',
    '12345678901234567890',
    '-0.0',
    '1e2',
    '"\\u00e9"',
    '{ "__proto__" : { "a" : 1 } }',
    '[ 1 ,2 ]',
    '"ế"',
  ),
  fc.string().map(text => JSON.stringify(text)),
  fc.jsonValue({ maxDepth: 2 }).map(value => JSON.stringify(value, null, 1)),
)
const space = fc.constantFrom('', ' ', '\n\t', '  ')

interface Written {
  readonly text: string
  /** The parts of the body that must not change. */
  readonly parts: readonly string[]
}

const LONG = 'a_name_that_is_longer_than_twenty'

function written(format: ChatFormat, raws: readonly string[], gap: string): Written {
  const [a, b, c, d, e] = raws.map((value, index) => `"x${index}~/" :${gap}${value}`) as [
    string,
    string,
    string,
    string,
    string,
  ]
  const isChat = format === 'chat_completions'
  const call = isChat
    ? `{"role":"assistant",${gap}"content":null, "tool_calls":[ {"id":"call:1", ${b},"type":"function","function":{"name":"${LONG}","arguments":"{}"}} ]}`
    : `{"role":"assistant",${gap}"content":[ {"type":"tool_use", ${b}, "id":"call:1","name":"${LONG}","input":{ ${e} }} ]}`
  const result = isChat
    ? `{"role":"tool", ${c}, "tool_call_id":"call:1","content":"seen"}`
    : `{"role":"user","content":[{"type":"tool_result", ${c},"tool_use_id":"call:1","content":"seen"}]}`
  const tool = isChat
    ? `{"type":"function","function":{"name":"${LONG}","strict":true, ${d}}}`
    : `{"name":"${LONG}","strict":true, ${d},"input_schema":{"type":"object"}}`
  const text = `${gap}{ ${a} ,"model":"m","max_tokens":${gap}5,"temperature" : 0.50,"messages":[${gap}{"role":"user","content":"hi", ${e} } ,${call}, ${result}],"tools": [${tool}]${gap}}`
  return { text, parts: [a, b, c, d] }
}

function planned(format: ChatFormat, text: string, words: Words): SameFormatPlan | null {
  const body = parseExactJson(text) as JsonObject
  const entry = { outputTokensMax: 1000, contextTokens: null, capabilities: [] }
  try {
    return planSameFormat({ format, body, entry, target: { dialect: dialectOf(words) } })
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

/** Parses JSON and turns negative zeros into positive ones. */
const plain = (text: string) => JSON.parse(JSON.stringify(JSON.parse(text)))

describe.each(['messages', 'chat_completions'] as const)('%s', format => {
  test('a body that needs no change stays as it is', () => {
    fc.assert(
      fc.property(fc.array(raw, { minLength: 5, maxLength: 5 }), space, (raws, gap) => {
        expect(planned(format, written(format, raws, gap).text, IDLE[format])?.edits).toEqual([])
      }),
    )
  })

  test('a body that needs many changes keeps everything else', () => {
    fc.assert(
      fc.property(fc.array(raw, { minLength: 5, maxLength: 5 }), space, (raws, gap) => {
        const { text, parts } = written(format, raws, gap)
        const plan = planned(format, text, BUSY)
        expect(plan?.edits.length).toBeGreaterThan(4)
        const bytes = encodeText(text)
        const sent = editJson(bytes, plan?.edits ?? [])
        for (const part of parts) expect(decodeText(sent)).toContain(part)
        expect(plain(decodeText(sent))).toEqual(plain(JSON.stringify(plan?.body)))
        const together = editMembers(bytes, membersOf(bytes), plan?.edits ?? [])
        if (together !== null) expect(plain(decodeText(joinBytes(together)))).toEqual(plain(decodeText(sent)))
      }),
    )
  })
})
