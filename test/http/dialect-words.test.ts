/**
 * How each setting of a dialect affects upstream bodies, token counts and bills, on every endpoint. Includes settings that no
 * upstream of the shipped catalogue uses.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { Dialect, ModelEntry, Tables } from '../../src/generated/types.ts'
import { MESSAGE } from '../support/chat.ts'
import {
  type ConversionWorld,
  CREDIT,
  chatText,
  eventsOf,
  type Path,
  question,
  startConversionWorld,
  streamOf,
} from '../support/conversion.ts'
import { json } from '../support/scripted-upstream.ts'

const CHAT = 'gpt-5.5'
const MESSAGES = 'claude-opus-5'

type Changes = { readonly [Group in keyof Dialect]?: Partial<Dialect[Group]> }

/** The shipped tables, with changes to the dialects of the models `CHAT` and `MESSAGES`. */
function tablesWith(changes: Changes): Tables {
  const entries: readonly ModelEntry[] = TABLES.entries
  const changed = (dialect: Dialect) =>
    Object.fromEntries(
      Object.entries(dialect).map(([group, words]) => [group, { ...words, ...changes[group as keyof Dialect] }]),
    ) as unknown as Dialect
  return {
    ...TABLES,
    entries: entries.map(entry =>
      entry.id === CHAT || entry.id === MESSAGES
        ? { ...entry, upstreams: entry.upstreams.map(target => ({ ...target, dialect: changed(target.dialect) })) }
        : entry,
    ),
  }
}

const REPLY = {
  id: 'c1',
  object: 'chat.completion',
  created: 1_790_000_000,
  model: 'upstream-name',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hà Nội' } }],
}
const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

function openWorld(changes: Changes): { current: ConversionWorld } {
  const holder = {} as { current: ConversionWorld }
  beforeAll(async () => {
    holder.current = await startConversionWorld({ tables: tablesWith(changes) })
  })
  beforeEach(async () => {
    holder.current.account = await holder.current.running.account(CREDIT)
    holder.current.answer(({ path }) =>
      path.startsWith('/anthropic') ? json(200, MESSAGE) : json(200, { ...REPLY, usage: USAGE }),
    )
  })
  afterAll(() => holder.current.close())
  return holder
}

const ROUTES: readonly (readonly [path: Path, model: string])[] = [
  ['/v1/messages', MESSAGES],
  ['/v1/messages', CHAT],
  ['/v1/chat/completions', MESSAGES],
  ['/v1/chat/completions', CHAT],
]

describe('a minimum output cap', () => {
  const world = openWorld({ output: { capMin: 16 } })
  test.each(ROUTES)('%s to %s: a lower cap is raised to it, a higher one stays', async (path, model) => {
    for (const [given, sent] of [
      [3, 16],
      [17, 17],
    ] as const) {
      const response = await world.current.call(path, { ...question(model), max_tokens: given })
      expect(response.status, await response.text()).toBe(200)
      const { max_tokens: cap, max_completion_tokens: other } = world.current.sent()
      expect(cap ?? other).toBe(sent)
    }
  })
})

describe('a tool that can be forced by name only', () => {
  const world = openWorld({ tools: { forced: 'named_only' }, reasoning: { besideTools: 'accepted' } })
  const schema = { type: 'object', properties: {} }
  const toolsOf = (path: Path, names: readonly string[]) =>
    names.map(name =>
      path === '/v1/messages'
        ? { name, input_schema: schema }
        : { type: 'function', function: { name, parameters: schema } },
    )
  const any = (path: Path) => (path === '/v1/messages' ? { type: 'any' } : 'required')
  const named = (path: Path, name: string) =>
    path === '/v1/messages' ? { type: 'tool', name } : { type: 'function', function: { name } }
  const upstreamPath = (model: string): Path => (model === MESSAGES ? '/v1/messages' : '/v1/chat/completions')
  const auto = (model: string) => (model === MESSAGES ? { type: 'auto' } : 'auto')

  test.each(ROUTES)('%s to %s: a single tool is named; among several, the model chooses', async (path, model) => {
    const ask = async (names: readonly string[], choice: unknown) => {
      const body = { ...question(model), tools: toolsOf(path, names), tool_choice: choice }
      const response = await world.current.call(path, body)
      expect(response.status, await response.text()).toBe(200)
      return world.current.sent().tool_choice
    }
    expect(await ask(['f'], any(path))).toEqual(named(upstreamPath(model), 'f'))
    expect(await ask(['f', 'g'], any(path))).toEqual(auto(model))
    expect(await ask(['f', 'g'], named(path, 'g'))).toEqual(named(upstreamPath(model), 'g'))
  })
})

describe('types of tools that an upstream does not support', () => {
  const world = openWorld({ tools: { leftOut: ['memory*'] } })
  const schema = { type: 'object', properties: {} }
  const fn = (path: Path) =>
    path === '/v1/messages'
      ? { name: 'f', input_schema: schema }
      : { type: 'function', function: { name: 'f', parameters: schema } }
  const memory = { type: 'memory_20250818', name: 'memory' }

  test.each(ROUTES)('%s to %s: are removed from the list, and the reply names them', async (path, model) => {
    const response = await world.current.call(path, { ...question(model), tools: [memory, fn(path)] })
    expect(response.status, await response.text()).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toBe('memory_20250818')
    expect(world.current.sent().tools).toHaveLength(1)
    expect(JSON.stringify(world.current.sent())).not.toContain('memory')
  })

  test.each(ROUTES)('%s to %s: the only tool is refused rather than dropped', async (path, model) => {
    const response = await world.current.call(path, { ...question(model), tools: [memory] })
    expect(response.status).toBe(400)
    expect(await response.text()).toContain('memory_20250818')
  })
})

describe('usage in an unusual place of a chat reply', () => {
  const world = openWorld({
    usage: {
      input: ['/meta/in'],
      output: ['/meta/out'],
      cached: ['/meta/hits'],
      reasoning: ['/meta/thoughts'],
      outputCounts: 'without_reasoning',
    },
  })
  const meta = { in: 90, out: 7, hits: 40, thoughts: 5 }
  const row = { status: 200, input: 90, output: 12, cached: 40, reasoning: 5, estimated: false }
  const told = { prompt_tokens: 90, completion_tokens: 12, total_tokens: 102 }

  test.each<[Path, object]>([
    ['/v1/messages', { input_tokens: 50, cache_read_input_tokens: 40, output_tokens: 12 }],
    ['/v1/chat/completions', told],
  ])('is billed and reported for a non-streamed reply: %s', async (path, expected) => {
    world.current.answer(json(200, { ...REPLY, meta }))
    const response = await world.current.call(path, question(CHAT))
    expect(((await response.json()) as { usage: object }).usage).toMatchObject(expected)
    expect(await world.current.row()).toMatchObject(row)
    expect(await world.current.spent()).toBe(102n * (await world.current.priceOf(CHAT)))
  })

  const chunk = (choices: object[], more: object = {}) => ({
    ...REPLY,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  })
  const text = { index: 0, delta: { role: 'assistant', content: 'Hà Nội' }, finish_reason: null }
  const stop = { index: 0, delta: {}, finish_reason: 'stop' }
  const STREAMS = {
    'in the last chunk': [chunk([text]), chunk([stop], { meta }), '[DONE]'],
    'in a chunk of its own': [chunk([text]), chunk([stop]), chunk([], { meta }), '[DONE]'],
  }

  test.each(
    Object.entries(STREAMS).flatMap(([name, chunks]) =>
      (['/v1/messages', '/v1/chat/completions'] as const).map(path => [name, path, chunks] as const),
    ),
  )('is billed and reported for a stream: %s, %s', async (_name, path, chunks) => {
    world.current.answer(streamOf(chatText(...chunks)))
    const body = { ...question(CHAT), stream: true }
    const asked = path === '/v1/messages' ? body : { ...body, stream_options: { include_usage: true } }
    const events = eventsOf(await (await world.current.call(path, asked)).text())
    const usages = events.flatMap(({ data }) => (data !== '[DONE]' && data.usage ? [data.usage] : []))
    expect(usages.at(-1)).toMatchObject(path === '/v1/messages' ? { output_tokens: 12 } : told)
    expect(await world.current.row()).toMatchObject(row)
  })
})

describe('what counts in a request besides its text', () => {
  const counting = {
    requestTokens: 10,
    turnTokens: 20,
    toolInstructionsTokens: 1_000,
    pageTokens: 300,
    picture: { edgePixelsMax: 100, pixelsPerToken: 10, tokensMax: 700, unknownTokens: 50 },
  }
  const entries: readonly ModelEntry[] = TABLES.entries
  const world = {} as { current: ConversionWorld }
  beforeAll(async () => {
    const tables = { ...TABLES, entries: entries.map(entry => (entry.id === CHAT ? { ...entry, counting } : entry)) }
    world.current = await startConversionWorld({ tables })
  })
  afterAll(() => world.current.close())

  async function count(content: object[], extra: object = {}): Promise<number> {
    const { running, account } = world.current
    const response = await fetch(`${running.url}/v1/messages/count_tokens`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey },
      body: JSON.stringify({ model: CHAT, messages: [{ role: 'user', content }], ...extra }),
    })
    return ((await response.json()) as { input_tokens: number }).input_tokens
  }

  /** An image whose PNG header declares this size. */
  function picture(width: number, height: number): object {
    const bytes = Buffer.alloc(33)
    Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').copy(bytes)
    bytes.writeUInt32BE(width, 16)
    bytes.writeUInt32BE(height, 20)
    return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: bytes.toString('base64') } }
  }

  test('is counted as the catalogue says for the model', async () => {
    const text = { type: 'text', text: 'x' }
    const plain = await count([text])
    const tools = [{ name: 'f', input_schema: { type: 'object' } }]
    expect(plain).toBeLessThan(10 + 20 + 5)
    expect(plain).toBeGreaterThan(10 + 20)
    expect(await count([text], { tools })).toBeGreaterThan(plain + 1_000)
    expect((await count([text, picture(20, 30)])) - plain).toBe(60)
    // The first image is scaled down to 100 × 50 pixels, at 10 pixels per token; the second image costs the maximum of 700
    // tokens.
    expect((await count([text, picture(2000, 1000)])) - plain).toBe(500)
    expect((await count([text, picture(2000, 2000)])) - plain).toBe(700)
    const url = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
    expect((await count([text, url])) - plain).toBe(50)
  })
})
