import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { readWords, WORDS, withoutWords, wordsTable } from '../../src/sandbox/words.ts'
import { PATHS, post, smallBody, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox({ limits: { hangMsMax: 50 } })
})
afterAll(() => sandbox.close())

test('the documentation and the help page contain the whole table', async () => {
  const page = readFileSync(new URL('../../docs/sandbox.md', import.meta.url), 'utf8')
  expect(page).toContain(wordsTable())
  expect(await (await fetch(sandbox.url)).text()).toContain(wordsTable())
  for (const { word } of WORDS) expect(wordsTable()).toContain(`\`sandbox:${word}\``)
})

test('words are found anywhere, with punctuation after them, but not inside URLs', () => {
  const found = readWords(
    'Please (sandbox:error=429), sandbox:retry-after=2. See http://sandbox:8080/ and my-sandbox:tool=x',
  )
  expect([...found]).toEqual([
    ['error', '429'],
    ['retry-after', '2'],
  ])
  expect(withoutWords('a sandbox:tokens=5 b')).toBe('a  b')
})

test('unknown words are ordinary text, unless they are near misses', () => {
  expect(readWords('run the image sandbox:latest or sandbox:v2')).toEqual(new Map())
  expect(() => readWords('sandbox:hangs')).toThrow('known words: error')
})

/** What a client sees of a call: status, content type, body, and whether the HTTP reply ended properly. */
async function see(format: 'messages' | 'chat' | 'responses', text: string, stream: boolean) {
  try {
    const response = await post(sandbox, PATHS[format], smallBody(format, text, { stream }))
    const { status, headers } = response
    let body = ''
    try {
      const decoder = new TextDecoder()
      for await (const chunk of response.body!) body += decoder.decode(chunk, { stream: true })
      return { status, headers, body, ending: 'whole' }
    } catch {
      return { status, headers, body, ending: 'broken' }
    }
  } catch {
    return { status: 0, headers: new Headers(), body: '', ending: 'refused' }
  }
}

const ENDS = { messages: 'message_stop', chat: '[DONE]', responses: 'response.completed' } as const

describe.each(['messages', 'chat', 'responses'] as const)('in the %s format', format => {
  test('a good stream has its end, and each event in one piece', async () => {
    const { status, headers, body, ending } = await see(format, 'hi', true)
    expect([status, headers.get('content-type'), ending]).toEqual([200, 'text/event-stream; charset=utf-8', 'whole'])
    const events = body.trimEnd().split('\n\n')
    expect(events.at(-1)).toContain(ENDS[format])
    const wanted = format === 'chat' ? /^data: .+$/ : /^event: \S+\ndata: \{.+\}$/
    expect(events.filter(event => !wanted.test(event))).toEqual([])
  })

  test.each([
    ['error=400', 400],
    ['error=413', 413],
    ['error=502', 502],
    ['error=503', 503],
  ])('sandbox:%s answers %d, streamed or not', async (word, status) => {
    for (const stream of [false, true]) {
      const seen = await see(format, `sandbox:${word}`, stream)
      expect([seen.status, JSON.parse(seen.body)]).toMatchObject([status, { error: { message: expect.any(String) } }])
    }
  })

  test('sandbox:retry-after sets the header', async () => {
    const { headers } = await see(format, 'sandbox:error=429 sandbox:retry-after=7', true)
    expect(headers.get('retry-after')).toBe('7')
  })

  test.each(['cut', 'error-event', 'cut=reset', 'hang=stream'])(
    'sandbox:%s starts well but has no good end',
    async word => {
      const { status, body, ending } = await see(format, `sandbox:${word}`, true)
      expect([status, body.includes(ENDS[format])]).toEqual([200, false])
      expect(body).toContain('data: {')
      expect(ending).toBe(word === 'cut' || word === 'error-event' ? 'whole' : 'broken')
      expect(/"error":\{|event: error/.test(body)).toBe(word === 'error-event')
    },
  )

  test.each(['reset', 'hang'])('sandbox:%s never answers', async word => {
    expect((await see(format, `sandbox:${word}`, false)).ending).toBe('refused')
  })

  test.each([
    ['garbage', false, 200, 'application/json'],
    ['garbage', true, 200, 'text/event-stream'],
    ['html', false, 502, 'text/html; charset=utf-8'],
    ['html=200', true, 200, 'text/html; charset=utf-8'],
    ['empty', false, 200, 'application/json'],
  ])('sandbox:%s (streamed: %s) answers %d %s that is not a reply', async (word, stream, status, type) => {
    const seen = await see(format, `sandbox:${word}`, stream)
    expect([seen.status, seen.headers.get('content-type')]).toEqual([status, type])
    expect(() => JSON.parse(seen.body)).toThrow(SyntaxError)
  })

  test('sandbox:no-usage omits the figures', async () => {
    for (const stream of [false, true]) {
      expect((await see(format, 'hi', false)).body).toMatch(/"(prompt|input)_tokens":/)
      expect((await see(format, 'sandbox:no-usage', stream)).body).not.toMatch(/"(prompt|input)_tokens":/)
    }
  })

  test('sandbox:refuse refuses in the reply', async () => {
    const { body } = await see(format, 'sandbox:refuse', false)
    expect(body).toMatch(/"stop_reason":"refusal"|"finish_reason":"content_filter"|"type":"refusal"/)
  })
})

test('sandbox:cached is included in the input in chat, and separate from it in messages', async () => {
  const text = `sandbox:cached=5 ${'word '.repeat(20)}`
  const usage = async (format: 'messages' | 'chat') => JSON.parse((await see(format, text, false)).body).usage
  const [messages, chat] = [await usage('messages'), await usage('chat')]
  expect(messages.input_tokens + messages.cache_read_input_tokens).toBe(chat.prompt_tokens)
  expect([messages.cache_read_input_tokens, chat.prompt_tokens_details.cached_tokens]).toEqual([5, 5])
})

test('sandbox:tool and sandbox:text decide on calls', async () => {
  const tools = ['alpha', 'beta'].map(name => ({ name, input_schema: { type: 'object', properties: {} } }))
  const kinds = async (messages: unknown) => {
    const response = await post(sandbox, PATHS.messages, { ...smallBody('messages', ''), tools, messages })
    return ((await response.json()) as { content: { type: string; name?: string }[] }).content.map(
      block => block.name ?? block.type,
    )
  }
  const user = (text: string) => [{ role: 'user', content: text }]
  expect(await kinds(user('hi'))).toEqual(['text'])
  expect(await kinds(user('hi sandbox:tool'))).toEqual(['alpha'])
  expect(await kinds(user('use beta'))).toEqual(['beta'])
  expect(await kinds(user('use alpha sandbox:tool=beta'))).toEqual(['beta'])
  expect(await kinds(user('use beta sandbox:tokens=9'))).toEqual(['text', 'beta'])
  expect(await kinds(user('use alpha sandbox:text'))).toEqual(['text'])
  const loop = [
    ...user('use alpha'),
    { role: 'assistant', content: [{ type: 'tool_use', id: 'u', name: 'alpha', input: {} }] },
  ]
  const back = { type: 'tool_result', tool_use_id: 'u', content: 'ok' }
  expect(await kinds([...loop, { role: 'user', content: [back] }])).toEqual(['text'])
  expect(await kinds([...loop, { role: 'user', content: [back, { type: 'text', text: 'sandbox:tool' }] }])).toEqual([
    'alpha',
  ])
})

test('sandbox:images returns fewer than requested, and bills fewer', async () => {
  const response = await post(sandbox, PATHS.images, {
    model: 'painter',
    prompt: 'x sandbox:images=1',
    n: 3,
    size: '64x64',
  })
  const reply = (await response.json()) as { data: object[]; usage: { output_tokens: number } }
  expect([reply.data.length, reply.usage.output_tokens]).toEqual([1, 5])
})

test.each([
  [PATHS.images, { model: 'painter', prompt: 'sandbox:error=429' }],
  [PATHS.speech, { model: 'speaker', voice: 'nova', input: 'sandbox:error=429' }],
])('words work on %s, too', async (path, body) => {
  expect((await post(sandbox, path, body)).status).toBe(429)
})

test('sandbox:slow keeps the stream open between tokens', async () => {
  const controller = new AbortController()
  const response = await fetch(sandbox.url + PATHS.chat, {
    method: 'POST',
    headers: { authorization: 'x' },
    body: JSON.stringify(smallBody('chat', 'sandbox:slow=1', { stream: true })),
    signal: controller.signal,
  })
  const reader = response.body!.getReader()
  await reader.read()
  controller.abort()
  await expect(reader.read()).rejects.toThrow()
})
