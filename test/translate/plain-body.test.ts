/**
 * Plain members of a body, such as messages of mere text, are checked without being parsed. These tests also parse each body in
 * full, and compare what is refused, what is read, and what is decided for every upstream model in the catalogue.
 * `make fuzz-plain FUZZ=100000 SEED=7` tries more bodies.
 */

import { expect, test } from 'vitest'
import { ToolNames } from '../../src/conversation/names.ts'
import { GatewayError } from '../../src/errors.ts'
import { FORMATS } from '../../src/formats/index.ts'
import { ENTRIES } from '../../src/generated/entries.ts'
import { SETTINGS } from '../../src/generated/settings.ts'
import type { Dialect, ModelEntry, UpstreamTarget, WireName } from '../../src/generated/types.ts'
import { toBuffer } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { asciiJson } from '../../src/lib/json-text.ts'
import { estimateInput, lowestCap } from '../../src/pipeline/estimate.ts'
import { CallExtras } from '../../src/pipeline/extras.ts'
import { isPrefilled } from '../../src/pipeline/prefilled.ts'
import { UnreadValues } from '../../src/pipeline/read-outline.ts'
import { type ChatBody, readChatBody } from '../../src/pipeline/receive.ts'
import { wiresOf } from '../../src/translate/choose-wire.ts'
import { planReadable, type ReadableBody } from '../../src/translate/plain-body.ts'
import {
  passesThrough,
  planSameFormat,
  type SameFormatCall,
  type SameFormatPlan,
} from '../../src/translate/same-format.ts'
import { onWires } from '../../src/translate/wired.ts'
import { mutatedBody, pick, type Random, seededRandom } from '../security/mutations.ts'
import { plainRequest } from './plain-requests.ts'
import { dialectOf } from './support.ts'

const BODIES = Number(process.env.FUZZ ?? 2_000)
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_007)

const WIRES = Object.keys(FORMATS) as WireName[]
const LIMITS = { bodyValuesMax: 1_000_000 }

/** The result of `work`, or the error that it throws. */
function outcomeOf(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return refusal(error)
  }
}

function refusal(error: unknown): object {
  if (!(error instanceof GatewayError)) throw error
  return { code: error.code, message: error.message, details: error.details }
}

function written(random: Random, request: object): Buffer {
  if (random() < 0.4) return mutatedBody(random, [request])
  if (random() < 0.2) return toBuffer(asciiJson(request))
  const text = JSON.stringify(request, null, pick(random, [undefined, undefined, undefined, 1, '\t']))
  return Buffer.from(random() < 0.05 ? `\ufeff ${text}\n` : text)
}

interface Aim {
  readonly format: WireName
  readonly entry: ModelEntry
  readonly target: UpstreamTarget
  readonly dialect: Dialect
}

/** Every way to send a request of this format through unconverted: each target in the catalogue that speaks the format. */
function aimsOf(format: WireName): Aim[] {
  return (ENTRIES as readonly ModelEntry[]).flatMap(entry =>
    entry.upstreams.flatMap(target =>
      wiresOf(target).flatMap(({ wire, dialect }) => (wire === format ? [{ format, entry, target, dialect }] : [])),
    ),
  )
}

const AIMS = Object.fromEntries(WIRES.map(format => [format, aimsOf(format)])) as Record<WireName, Aim[]>

/** Dialects that each differ from the default in one setting. */
const DIALECTS = [
  {},
  { output: { cap_min: 99 } },
  { content: { text: 'string' } },
  { turns: { prefill: 'user_turn' } },
  { turns: { prefill: 'continue' } },
  { turns: { prefill: 'prefix' } },
  { turns: { mid_system: 'hoist' } },
  { turns: { mid_system: 'user_text' } },
  { turns: { system_role: 'developer' } },
  { turns: { system_role: 'instructions' } },
  { turns: { alternate: true } },
  { turns: { threads: true } },
  { sampling: { parameters: null } },
  { reasoning: { parameter: 'budget' } },
  { reasoning: { parameter: 'adaptive', levels: ['low', 'high'] } },
  { reasoning: { echo: 'always' } },
  { reasoning: { echo: 'always', field: 'item_content' } },
  { reasoning: { echo: 'if_present', field: 'content_parts' } },
  { tools: { name_max: 10 } },
  { tools: { name_start: 'letter' } },
  { tools: { call_id: 'alphanumeric_9' } },
  { tools: { call_id: 'word' } },
  { tools: { forced: 'named_only' } },
  { tools: { forced: 'refused' } },
  { tools: { forced: 'not_with_thinking' }, reasoning: { parameter: 'budget', by_default: true } },
  { tools: { strict: 'drop' } },
  { tools: { schema: 'no_meta_schema' } },
  { tools: { schema: 'explicit_types' } },
  { tools: { schema: 'required' } },
  { tools: { parallel_flag: false } },
  { tools: { signature: { path: '/extra_content/google/thought_signature', placeholder: 'skip' } } },
  { tools: { result_images: 'following_user' } },
  { structured_output: { method: 'prompt' } },
  { structured_output: { method: 'json_object' } },
  { end_user: { field: null } },
  { betas: { flags: { a: { name: null, fields: ['/tools/*/strict', '/*/*/cache_control'] } } } },
  { betas: { flags: { a: { name: null, fields: ['/messages/*/output_config'] } } } },
].map(facts => dialectOf(facts as Parameters<typeof dialectOf>[0]))

/** Plans a call to a target, and returns the parts of the plan that other stages read. */
function planFor(
  { format, entry, target, dialect }: Aim,
  plan: (call: Omit<SameFormatCall, 'body'>) => SameFormatPlan,
): object {
  const { edits, body, ...rest } = plan({
    ...{ format, entry, target: { dialect }, outputTokensAfforded: 4_000 },
    betas: ['context-1m-2025-08-07', 'x'],
  })
  return { edits, ...rest, prefilled: isPrefilled(body, { ...target, dialect }) }
}

/** Fails unless a parsed and an unparsed body lead to the same decisions. Returns true if no decision had to parse the body. */
function compareDecisions(aim: Aim, body: ChatBody, values: JsonObject): boolean {
  const { format, entry, target, dialect } = aim
  const { text, raw, outline, members } = body
  const extrasOf = (fields: JsonObject) =>
    outcomeOf(() => {
      const options = { vocabulary: SETTINGS.extras, endpoint: format, entry, body: fields }
      const extras = new CallExtras(options)
      const { text: changed } = extras.bodyFor({ text, raw, members, json: values }, target)
      return { hold: extras.holdMicroVnd, leftOut: extras.begin(target), changed }
    })
  expect(extrasOf(outline)).toEqual(extrasOf(values))
  expect(lowestCap(outline, entry)).toBe(lowestCap(values, entry))
  expect(passesThrough(format, outline, dialect)).toBe(passesThrough(format, values, dialect))
  const unread = new UnreadValues(text, {
    notes: body.unread?.notes ?? [],
    isAscii: false,
    mayEscapeKeyCharacters: true,
  })
  const readable: ReadableBody = {
    outline,
    unread,
    get json() {
      return unread.json
    },
  }
  const planned = outcomeOf(() => planFor(aim, call => planReadable({ ...call, body: readable })))
  expect(planned).toEqual(outcomeOf(() => planFor(aim, call => planSameFormat({ ...call, body: values }))))
  return !unread.built
}

test(
  `decides the same about ${BODIES} bodies, whether their values are read or not (SEED=${SEED})`,
  async () => {
    const random = seededRandom(SEED)
    const counts = { refused: 0, unread: 0, planned: 0, plannedUnread: 0 }
    for (let count = 0; count < BODIES; count++) {
      const format = pick(random, WIRES)
      const bytes = written(random, plainRequest(random, format))
      const where = `SEED=${SEED}, body ${count}: ${bytes.toString('latin1')}`
      const whole = await readChatBody(bytes, LIMITS, format, null).catch(refusal)
      const body = await readChatBody(bytes, LIMITS, format).catch(refusal)
      if (!('text' in whole) || !('text' in body)) {
        expect(body, where).toEqual(whole)
        counts.refused++
        continue
      }
      const { json: values } = whole
      expect(JSON.stringify(body.json), where).toBe(JSON.stringify(values))
      expect({ ...body, outline: values, unread: null }, where).toEqual({ ...whole })
      if (body.unread === null) {
        expect(body.outline, where).toBe(body.json)
        continue
      }
      counts.unread++
      expect(estimateInput(body, 1_000), where).toEqual(estimateInput(whole, 1_000))
      const known = pick(random, AIMS[format])
      const others = [1, 2, 3, 4].map(() => ({ ...known, dialect: pick(random, DIALECTS) }))
      // Any entry of the catalogue will do, even one that does not support the body's format.
      for (let tries = 0; tries < 3; tries++) {
        const entry = pick(random, ENTRIES as readonly ModelEntry[])
        const chosen = onWires(entry, format, body.outline).upstreams
        expect(chosen, where).toEqual(onWires(entry, format, values).upstreams)
      }
      for (const aim of [known, ...others]) {
        try {
          if (compareDecisions(aim, body, values)) counts.plannedUnread++
        } catch (error) {
          throw new Error(`${where}\nfor ${aim.entry.id} at ${aim.target.via}`, { cause: error })
        }
        counts.planned++
      }
    }
    expect(Math.min(counts.refused, counts.unread)).toBeGreaterThan(BODIES / 20)
    expect(counts.plannedUnread).toBeGreaterThan(counts.planned / 4)
  },
  60_000 + BODIES * 5,
)

const CHAT = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
const MESSAGES = { ...CHAT, max_tokens: 9 }
const RESPONSES = { model: 'm', input: [{ role: 'user', content: 'hi' }] }

async function isRead(format: WireName, body: object): Promise<boolean> {
  const { unread } = await readChatBody(Buffer.from(JSON.stringify(body)), LIMITS, format)
  return unread === null
}

test.each<[WireName, object]>([
  ['chat_completions', CHAT],
  ['chat_completions', { ...CHAT, tools: [{ type: 'function', function: { name: 'f' } }] }],
  ['messages', MESSAGES],
  ['messages', { ...MESSAGES, system: 'Be kind', tools: [{ name: 'f', input_schema: {} }] }],
  [
    'messages',
    { ...MESSAGES, messages: [{ role: 'user', content: [{ type: 'thinking', thinking: 'hm', signature: 'E+/=' }] }] },
  ],
  ['responses', RESPONSES],
  ['responses', { ...RESPONSES, input: 'hi', instructions: 'Be kind', tools: [{ type: 'function', name: 'f' }] }],
])('a plain request of the format %s is not read: %j', async (format, body) => {
  expect(await isRead(format, body)).toBe(false)
})

const part = (value: object) => ({ ...CHAT, messages: [{ role: 'user', content: [value] }] })
const block = (value: object) => ({ ...MESSAGES, ...part(value) })
const item = (value: object) => ({ ...RESPONSES, input: [value] })

test.each<[WireName, object]>([
  ['chat_completions', { ...CHAT, tools: [] }],
  ['chat_completions', { ...CHAT, tools: [{ function: { name: 'f' } }] }],
  ['chat_completions', { ...CHAT, tools: [{ google_search: {} }] }],
  ['chat_completions', { ...CHAT, tools: [{ type: 'web_search' }] }],
  ['chat_completions', { ...CHAT, tools: [{ type: 'function', function: { name: 'f', Name: 'g' } }] }],
  ['chat_completions', { ...CHAT, messages: [{ content: 'hi' }] }],
  ['chat_completions', { ...CHAT, messages: [{ role: 'assistant', content: 'hi', prefix: true }] }],
  ['chat_completions', { ...CHAT, messages: [{ role: 'assistant', content: 'hi', reasoning_content: 'hm' }] }],
  ['chat_completions', part({ type: 'image_url', image_url: { url: 'https://a.b/c.png' } })],
  ['chat_completions', part({ type: 'text', text: 'hi', cache_control: { type: 'ephemeral', ttl: '1h' } })],
  ['messages', { ...MESSAGES, tools: [{ name: 'f' }] }],
  ['messages', { ...MESSAGES, tools: [{ type: 'web_search_20250305', name: 'f', input_schema: {} }] }],
  ['messages', { ...MESSAGES, tools: [{ name: 'f', input_schema: {}, defer_loading: true }] }],
  ['messages', block({ type: 'image', source: { type: 'base64', data: '' } })],
  ['messages', block({ type: 'thinking', thinking: 'hm' })],
  ['messages', block({ type: 'thinking', thinking: 'hm', signature: '' })],
  ['messages', block({ type: 'thinking', thinking: 'hm', signature: 'gwm1.1.a.b' })],
  ['messages', block({ type: 'redacted_thinking', data: 'gwm1.1.a.b' })],
  ['messages', block({ type: 'tool_addition', tool: {} })],
  ['messages', block({ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document' }] })],
  ['responses', item({ content: 'hi' })],
  ['responses', item({ role: 'user', content: 'hi', id: 'msg_1' })],
  ['responses', item({ type: 'item_reference', id: 'msg_1' })],
  ['responses', item({ type: 'reasoning', encrypted_content: 'gAAAA' })],
  ['responses', item({ type: 'additional_tools', tools: [{ type: 'web_search' }] })],
  ['responses', { ...RESPONSES, tools: [{ type: 'namespace', tools: [{ type: 'web_search' }] }] }],
  ['responses', { ...RESPONSES, tools: [{ type: 'custom', name: 'f' }] }],
])('a request of the format %s is read for what is not plain: %j', async (format, body) => {
  expect(await isRead(format, body)).toBe(true)
})

test('a tool name that only tool_choice has does not clash with those of unread tools', async () => {
  const dialect = dialectOf({ tools: { name_max: 20 } })
  const long = 'a_name_that_is_longer_than_twenty'
  const { nameMax, nameStart } = dialect.tools
  const name = new ToolNames([long], { nameMax, nameStart, characters: 'any' }).upstream(long)
  const choice = { type: 'function', function: { name: long } }
  const request = { ...CHAT, tools: [{ type: 'function', function: { name } }], tool_choice: choice }
  const body = await readChatBody(Buffer.from(JSON.stringify(request)), LIMITS, 'chat_completions')
  expect(body.unread).not.toBeNull()
  const [{ entry }] = AIMS.chat_completions as [Aim]
  const call = { format: 'chat_completions', entry, target: { dialect } } as const
  const { edits } = planReadable({ ...call, body })
  expect(edits).toEqual(planSameFormat({ ...call, body: body.json }).edits)
  expect(edits).not.toEqual([{ op: 'set', path: '/tool_choice/function/name', value: name }])
})
