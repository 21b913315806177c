import { afterEach, expect, test } from 'vitest'
import {
  drop,
  early,
  end,
  hang,
  head,
  json,
  raw,
  reset,
  type Script,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from './scripted-upstream.ts'

let upstream: ScriptedUpstream

async function start(script: Script): Promise<string> {
  upstream = await startScriptedUpstream(script)
  return upstream.url
}

afterEach(() => upstream.close())

/** Reads a body: its bytes in the chunks in which they arrived, and whether it ended properly. */
async function chunksOf(response: Response): Promise<{ chunks: Buffer[]; endedWell: boolean }> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of response.body!) chunks.push(Buffer.from(chunk))
    return { chunks, endedWell: true }
  } catch {
    return { chunks, endedWell: false }
  }
}

test('answers in order with status, headers and body, and records the requests', async () => {
  const url = await start([json(429, { a: 1 }, { 'retry-after': '2' }), json(200, { b: 2 })])
  const first = await fetch(`${url}/v1/x?q=1`, { method: 'POST', headers: { 'x-api-key': 'k' }, body: '{"é":1}' })
  expect([first.status, first.headers.get('retry-after'), await first.json()]).toEqual([429, '2', { a: 1 }])
  expect(await (await fetch(url)).json()).toEqual({ b: 2 })
  const [post, get] = upstream.requests
  expect([post!.method, post!.path, post!.headers['x-api-key'], post!.json()]).toEqual([
    'POST',
    '/v1/x?q=1',
    'k',
    { é: 1 },
  ])
  expect([get!.method, get!.body.length, await get!.outcome]).toEqual(['GET', 0, 'finished'])
})

test('reports when the script has run out', async () => {
  const url = await start([])
  const response = await fetch(url)
  expect(response.status).toBe(599)
  expect(await response.text()).toContain('no answer for request 1')
})

test('cuts inside characters and between CR and LF, with each part as a separate chunk', async () => {
  const url = await start([[sse(), write('data: é\r\n\r\n', { cutEvery: 1 }), write('x'), end()]])
  const { chunks, endedWell } = await chunksOf(await fetch(url))
  expect(chunks.map(chunk => chunk.length)).toEqual(Array(13).fill(1))
  expect([Buffer.concat(chunks).toString(), endedWell]).toEqual(['data: é\r\n\r\nx', true])
})

test('cuts at given positions', async () => {
  const url = await start([[head(200), write('abcdef', { cutAt: [4, 1], pauseMs: 1 }), end()]])
  const { chunks } = await chunksOf(await fetch(url))
  expect(chunks.map(String)).toEqual(['a', 'bcd', 'ef'])
})

test('waits for the test before it goes on', async () => {
  const gate = Promise.withResolvers<void>()
  const url = await start([[sse(), write('one'), until(gate.promise), write('two'), end()]])
  const reader = (await fetch(url)).body!.getReader()
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('one')
  gate.resolve()
  expect(Buffer.from((await reader.read()).value!).toString()).toBe('two')
})

test('resets before the head', async () => {
  const url = await start([[reset()]])
  const error = await fetch(url).catch((caught: Error) => caught.cause as { code: string })
  expect(error).toMatchObject({ code: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) })
  expect(await upstream.requests[0]!.outcome).toBe('broken')
})

test.each([
  ['resets', reset()],
  ['drops the connection', drop()],
])('%s in the middle of a line, after what was written', async (_name, fault) => {
  const url = await start([[sse(), write('data: {"a'), fault]])
  const { chunks, endedWell } = await chunksOf(await fetch(url))
  expect([Buffer.concat(chunks).toString(), endedWell]).toEqual(['data: {"a', false])
})

test('sends bytes that are not HTTP', async () => {
  const url = await start([[raw('SSH-2.0-nonsense\r\n'), drop()]])
  await expect(fetch(url)).rejects.toThrow('fetch failed')
})

test('answers before it has read the body', async () => {
  const url = await start([[early(), ...json(413, {})]])
  const response = await fetch(url, { method: 'POST', body: 'x'.repeat(100_000) })
  expect([response.status, upstream.requests[0]!.body.length]).toEqual([413, 0])
})

test.each([
  ['before the head', [hang()]],
  ['in the middle of a stream', [sse(), write('data: 1\n\n'), hang()]],
])('hangs %s and records that the client aborted', async (_name, answer) => {
  const url = await start(() => answer)
  const controller = new AbortController()
  const call = fetch(url, { signal: controller.signal }).then(response => response.text())
  const failure = call.catch((error: Error) => error.name)
  await upstream.received(1)
  controller.abort()
  expect([await failure, await upstream.requests[0]!.outcome]).toEqual(['AbortError', 'aborted'])
})

test('a function answers every request', async () => {
  const url = await start((request, index) => json(200, { index, path: request.path }))
  await fetch(`${url}/a`)
  expect(await (await fetch(`${url}/b`)).json()).toEqual({ index: 1, path: '/b' })
})
