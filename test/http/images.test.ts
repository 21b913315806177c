/** Image calls over sockets: what reaches the provider, what is billed, and all kinds of bad input. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  head,
  json,
  type RecordedRequest,
  reset,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  write,
} from '../support/scripted-upstream.ts'

const PER_VND = 1_000_000n
const CREDIT = 100_000n * PER_VND
const PRICE = 650n * PER_VND
const MODEL = 'req/gpt-image-2'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)
const WEBP = Buffer.concat([Buffer.from('RIFF\x1a\0\0\0WEBPVP8L', 'latin1'), Buffer.alloc(14, 7)])
const GIF = Buffer.concat([Buffer.from('GIF89a', 'latin1'), Buffer.alloc(20, 1)])
const JPEG = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(20, 1)])

let answer: Answer
let provider: ScriptedUpstream
let pictures: Server
let picturesUrl: string
let serve: (response: ServerResponse) => void
let picturesServed = 0
let running: TestGateway
let account: TestAccount
/** TMPDIR for this process alone, so that tests can detect leftover files. */
const temporary = mkdtempSync(join(tmpdir(), 'gateway-images-'))
vi.stubEnv('TMPDIR', temporary)
const temporaryFiles = () => readdirSync(temporary).filter(name => !name.startsWith('gateway-test-'))

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  pictures = createServer((_request, response) => {
    picturesServed++
    serve(response)
  })
  await new Promise<void>(resolve => pictures.listen(0, '127.0.0.2', resolve))
  const { port } = pictures.address() as AddressInfo
  picturesUrl = `http://127.0.0.2:${port}/a.png`
  running = await startTestGateway({
    upstreams: { openai: `${provider.url}/v1` },
    imageFetch: { ports: [80, 443, port], isAllowed: address => address === '127.0.0.2' },
  })
})
beforeEach(async () => {
  picturesServed = 0
  serve = response => response.end(PNG)
  answer = reply(1)
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
  pictures.closeAllConnections()
  pictures.close()
  vi.unstubAllEnvs()
  rmSync(temporary, { recursive: true, force: true })
})

function reply(images: number): Answer {
  const data = Array.from({ length: images }, () => ({ b64_json: 'aW1hZ2U=', revised: true }))
  const usage = {
    input_tokens: 40,
    output_tokens: 1056,
    total_tokens: 1096,
    input_tokens_details: { image_tokens: 30 },
  }
  return json(200, { created: 1, data, usage, new_field: { model: 'inner' } })
}

function post(path: string, body: unknown, signal?: AbortSignal) {
  return fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}`, 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
    ...(signal && { signal }),
  })
}
const generate = (body: object, signal?: AbortSignal) =>
  post('/v1/images/generations', { model: MODEL, prompt: 'a cat', ...body }, signal)
const edit = (body: object) => post('/v1/images/edits', { model: MODEL, prompt: 'make it blue', ...body })

function editForm(parts: readonly (readonly [string, string | Blob, string?])[]) {
  const body = new FormData()
  for (const [name, value, fileName] of parts) {
    if (typeof value === 'string') body.append(name, value)
    else body.append(name, value, fileName ?? 'a.png')
  }
  const headers = { authorization: `Bearer ${account.apiKey}` }
  return fetch(`${running.url}/v1/images/edits`, { method: 'POST', headers, body })
}

async function formOf(request: RecordedRequest | undefined) {
  const headers = { 'content-type': String(request?.headers['content-type']) }
  const form = await new Response(new Uint8Array(request?.body ?? Buffer.alloc(0)), { headers }).formData()
  return Promise.all(
    [...form.entries()].map(async ([name, value]) =>
      typeof value === 'string'
        ? [name, value]
        : [name, value.name, value.type, Buffer.from(await value.arrayBuffer()).toString('base64')],
    ),
  )
}

async function expectRow(row: object, spent: bigint) {
  expect(await running.usage(account.accountId)).toMatchObject([row])
  expect(await running.balance(account.accountId)).toBe(CREDIT - spent)
  const [holds] = await running.database.sql`select count(*)::int as open from hold`
  expect(holds?.open).toBe(0)
}

test('a generation passes with all its fields, and is billed for the images returned', async () => {
  answer = reply(2)
  const body = `{ "model":"${MODEL}","prompt":"một con mèo \\u1ebf","n":4,"size":"1024x1024","x_new":12345678901234567890}`
  const response = await post('/v1/images/generations', body)
  expect(response.status).toBe(200)
  expect(provider.requests.at(-1)?.path).toBe('/v1/images/generations')
  expect(provider.requests.at(-1)?.body.toString()).toBe(body.replace(MODEL, 'gpt-image-2'))
  expect(await response.json()).toMatchObject({ created: 1, data: [{}, {}], new_field: { model: 'inner' } })
  expect(Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('x-svc-')))).toEqual({
    'x-svc-model': MODEL,
    'x-svc-price-vnd-per-request': '650',
    'x-svc-input-tokens': '40',
    'x-svc-output-tokens': '1056',
    'x-svc-balance-vnd': '98700',
    'x-svc-cost-vnd': '1300',
  })
  await expectRow({ status: 200, cost: 2n * PRICE, charged: 2n * PRICE, input_tokens: 40, model: MODEL }, 2n * PRICE)
  const [row] = await running.database.sql`select images from usage where account_id = ${account.accountId}`
  expect(row?.images).toBe(2)
})

test('surplus images are not billed, and neither is a reply without images', async () => {
  answer = reply(3)
  await generate({ n: 1 })
  answer = reply(0)
  expect((await generate({})).headers.get('x-svc-cost-vnd')).toBe('0')
  expect((await running.usage(account.accountId)).map(row => row.cost)).toEqual([PRICE, 0n])
})

test('the hold is the price of all requested images', async () => {
  const release = Promise.withResolvers<void>()
  answer = [{ do: 'until', promise: release.promise }, ...reply(3)]
  const before = provider.requests.length
  const response = generate({ n: 3 })
  await provider.received(before + 1)
  const [hold] = await running.database
    .sql`select amount_micro_vnd::text as amount from hold where account_id = ${account.accountId}`
  expect(BigInt(hold?.amount)).toBe(3n * PRICE)
  release.resolve()
  await (await response).text()
  await expectRow({ cost: 3n * PRICE }, 3n * PRICE)
})

test('response_format is removed if it names the provider’s default, because the provider refuses the field', async () => {
  await generate({ response_format: 'b64_json' })
  expect(provider.requests.at(-1)?.json()).toEqual({ model: 'gpt-image-2', prompt: 'a cat' })
  await edit({ image: PNG.toString('base64'), response_format: 'b64_json' })
  expect((await formOf(provider.requests.at(-1))).map(([name]) => name)).toEqual(['model', 'prompt', 'image[]'])
})

test.each([
  ['a data URL', 'image', `data:image/png;base64,${PNG.toString('base64')}`, 'image-1.png', 'image/png', PNG],
  [
    'a data URL with parameters',
    'image',
    `data:image/x;q=1;base64,${JPEG.toString('base64')}`,
    'image-1.jpg',
    'image/jpeg',
    JPEG,
  ],
  ['plain base64', 'image_url', WEBP.toString('base64'), 'image-1.webp', 'image/webp', WEBP],
  [
    'base64 with line breaks',
    'reference_image',
    GIF.toString('base64').replace(/(.{8})/g, '$1\r\n'),
    'image-1.gif',
    'image/gif',
    GIF,
  ],
  ['base64url', 'ref_image', JPEG.toString('base64url'), 'image-1.jpg', 'image/jpeg', JPEG],
])('an edit with %s under %s reaches the provider as a form', async (_kind, field, value, file, type, bytes) => {
  const response = await edit({
    [field]: value,
    size: '512x512',
    n: 2,
    user: 'ế',
    quality: null,
    tags: ['a', 'b'],
    x: { y: 1 },
  })
  expect(response.status).toBe(200)
  expect(provider.requests.at(-1)?.path).toBe('/v1/images/edits')
  expect(await formOf(provider.requests.at(-1))).toEqual([
    ['model', 'gpt-image-2'],
    ['prompt', 'make it blue'],
    ['size', '512x512'],
    ['n', '2'],
    ['user', 'ế'],
    ['tags[]', 'a'],
    ['tags[]', 'b'],
    ['x', '{"y":1}'],
    ['image[]', file, type, bytes.toString('base64')],
  ])
  await expectRow({ status: 200, cost: PRICE }, PRICE)
})

test('an edit with a URL: the image and the mask are fetched and sent', async () => {
  const response = await edit({ image_url: picturesUrl, mask: `${picturesUrl}?mask` })
  expect(response.status).toBe(200)
  expect((await formOf(provider.requests.at(-1))).slice(2)).toEqual([
    ['image[]', 'image-1.png', 'image/png', PNG.toString('base64')],
    ['mask', 'mask.png', 'image/png', PNG.toString('base64')],
  ])
  expect(picturesServed).toBe(2)
})

test('a form as SDKs send it: one image, several, a mask, unchanged text fields', async () => {
  const file = (bytes: Buffer) => new Blob([new Uint8Array(bytes)], { type: 'image/png' })
  const one = await editForm([
    ['image', file(PNG), 'ảnh "1".png'],
    ['prompt', 'tô màu "xanh"\r\nđậm'],
    ['model', MODEL],
    ['n', '2'],
    ['stream', 'false'],
  ])
  expect(one.status).toBe(200)
  expect(await formOf(provider.requests.at(-1))).toEqual([
    ['prompt', 'tô màu "xanh"\r\nđậm'],
    ['model', 'gpt-image-2'],
    ['n', '2'],
    ['stream', 'false'],
    ['image[]', 'image-1.png', 'image/png', PNG.toString('base64')],
  ])
  const several = await editForm([
    ['model', MODEL],
    ['prompt', 'x'],
    ['image[]', file(PNG)],
    ['image[]', file(JPEG), 'wrong-name.png'],
    ['mask', file(PNG), 'm.png'],
  ])
  expect(several.status).toBe(200)
  expect((await formOf(provider.requests.at(-1))).slice(2).map(part => part.slice(0, 3))).toEqual([
    ['image[]', 'image-1.png', 'image/png'],
    ['image[]', 'image-2.jpg', 'image/jpeg'],
    ['mask', 'mask.png', 'image/png'],
  ])
})

const event = (type: string, rest: string) => `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`
const PARTIAL = event('image_generation.partial_image', '"partial_image_index":0,"b64_json":"cGFydA=="')
const COMPLETED = event(
  'image_generation.completed',
  '"b64_json":"aW1hZ2U=","usage":{"input_tokens":5,"output_tokens":9}',
)

test('partial images pass byte for byte; the call is billed at the end, for finished images', async () => {
  answer = [sse(), write(PARTIAL + PARTIAL + COMPLETED, { cutEvery: 50 }), end()]
  const response = await generate({ stream: true, partial_images: 2 })
  expect(response.headers.get('x-svc-cost-vnd')).toBeNull()
  expect(await response.text()).toBe(PARTIAL + PARTIAL + COMPLETED)
  await expectRow({ status: 200, cost: PRICE, streamed: true, output_tokens: 9, estimated: false }, PRICE)
})

test('a stream of several images is billed for those that arrived', async () => {
  answer = [sse(), write(COMPLETED + PARTIAL + COMPLETED), end()]
  expect(await (await generate({ stream: true, n: 3 })).text()).toBe(COMPLETED + PARTIAL + COMPLETED)
  await expectRow({ status: 200, cost: 2n * PRICE }, 2n * PRICE)
})

test.each<[string, Answer]>([
  ['ends without an image', [sse(), write(PARTIAL), end()]],
  ['is reset', [sse(), write(PARTIAL), reset()]],
  ['ends in an error', [sse(), write(`${PARTIAL}data: {"type":"error","error":{"code":"server_error"}}\n\n`), end()]],
])('a stream that %s ends in an error event and is not charged', async (_name, behaviour) => {
  answer = behaviour
  const text = await (await generate({ stream: true })).text()
  expect(text.startsWith(PARTIAL)).toBe(true)
  expect(text).toMatch(/data: \{"type":"error","error":\{.*\n\n$/)
  await expectRow({ status: 502, cost: 0n }, 0n)
})

test('a client that leaves after a partial image pays for that image only', async () => {
  answer = [sse(), write(PARTIAL), { do: 'hang' }]
  const leaving = new AbortController()
  const response = await generate({ stream: true, n: 3 }, leaving.signal)
  await (response.body as ReadableStream<Uint8Array>).getReader().read()
  leaving.abort()
  expect(await provider.requests.at(-1)?.outcome).toBe('aborted')
  await expectRow({ status: 499, cost: PRICE, estimated: true }, PRICE)
})

test('a client that leaves a non-streamed call pays for the finished call', async () => {
  const release = Promise.withResolvers<void>()
  answer = [{ do: 'until', promise: release.promise }, ...reply(1)]
  const before = provider.requests.length
  const leaving = new AbortController()
  const gone = running.clientGone()
  const request = generate({}, leaving.signal).catch(() => null)
  await provider.received(before + 1)
  leaving.abort()
  await request
  await gone
  release.resolve()
  await expectRow({ status: 499, cost: PRICE, estimated: false }, PRICE)
})

test.each<[string, Answer, number]>([
  [
    'a refusal',
    json(400, { error: { message: 'Your request was rejected by the safety system', type: 'invalid_request_error' } }),
    400,
  ],
  ['a busy provider', json(429, { error: { message: 'slow down' } }), 429],
  ['a broken provider', [head(500), write('oops'), end()], 502],
  ['a reply without images', json(200, { created: 1 }), 502],
  ['an error in a 200', json(200, { error: { message: 'x' } }), 502],
  ['garbage', [head(200), write('<html>'), end()], 502],
])('does not charge for %s', async (_name, behaviour, status) => {
  answer = behaviour
  const response = await generate({ n: 2 })
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({ type: 'error' })
  await expectRow({ status, cost: 0n }, 0n)
})

const IMAGE = PNG.toString('base64')
const BAD: readonly [name: string, send: () => Promise<Response>, status: number, message: RegExp][] = [
  ['no prompt', () => generate({ prompt: undefined }), 400, /prompt: Field required/],
  ['an empty prompt', () => generate({ prompt: ' ' }), 400, /prompt: /],
  ['a size in words', () => generate({ size: 'big' }), 400, /size: write <width>x<height>/],
  ['a size of zero', () => generate({ size: '0x10' }), 400, /size: /],
  ['n of 0', () => generate({ n: 0 }), 400, /n: Input should be a whole number/],
  ['n as a string', () => generate({ n: '2' }), 400, /n: /],
  ['a fraction of an image', () => generate({ n: 1.5 }), 400, /n: /],
  ['more images than the entry makes', () => generate({ n: 11 }), 400, /n: at most 10 images/],
  ['stream of the wrong kind', () => generate({ stream: 'yes' }), 400, /stream: /],
  [
    'a chat model',
    () => generate({ model: 'gpt-5.5' }),
    400,
    /gpt-5\.5 is not served on \/v1\/images\/generations\. Call it with POST \/v1\/messages/,
  ],
  [
    'an unknown model',
    () => generate({ model: 'dall-e-3' }),
    400,
    /\/v1\/images\/generations serves: req\/gpt-image-2/,
  ],
  [
    'the image model on speech',
    () => post('/v1/audio/speech', { model: MODEL, input: 'x', voice: 'a' }),
    400,
    /Call it with POST \/v1\/images\/generations or POST \/v1\/images\/edits/,
  ],
  [
    'no reference',
    () => edit({}),
    400,
    /send the reference image under one of image, image_url, reference_image, ref_image/,
  ],
  [
    'two references',
    () => edit({ image: IMAGE, ref_image: IMAGE }),
    400,
    /image, ref_image: send the reference image under one name only/,
  ],
  [
    'a JSON edit with more fields than a form may have',
    () => edit({ image: IMAGE, ...Object.fromEntries(Array.from({ length: 70 }, (_, at) => [`f${at}`, at])) }),
    400,
    /more than 64 fields/,
  ],
  [
    'a JSON edit with a list that would make a form too long',
    () => edit({ image: IMAGE, tags: Array.from({ length: 70 }, () => 'x') }),
    400,
    /more than 64 fields/,
  ],
  ['a list of references', () => edit({ image: [IMAGE] }), 400, /image: Input should be a non-empty string/],
  [
    'a reference that is not base64',
    () => edit({ image: 'hello, world!' }),
    400,
    /image: write a base64 data URL, plain base64, or a public/,
  ],
  ['a data URL without base64', () => edit({ image: 'data:image/png,abc' }), 400, /image: write a base64/],
  [
    'a reference that is not an image',
    () => edit({ ref_image: Buffer.from('just text').toString('base64') }),
    400,
    /ref_image: not a PNG, JPEG, WebP or GIF/,
  ],
  ['a mask that is not an image', () => edit({ image: IMAGE, mask: 'AAAA' }), 400, /mask: not a PNG/],
  [
    'a private address',
    () => edit({ image_url: 'http://169.254.169.254/latest/meta-data' }),
    400,
    /image_url: the address is not public/,
  ],
  [
    'a loopback address',
    () => edit({ image_url: 'http://localhost/a.png' }),
    400,
    /image_url: the address is not public/,
  ],
  ['a file URL', () => edit({ image_url: 'file:///etc/passwd' }), 400, /image_url: write a base64/],
  [
    'n of 0 in a form',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['n', '0'],
        ['image', new Blob([new Uint8Array(PNG)])],
      ]),
    400,
    /n: /,
  ],
  [
    'a text file named .png',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['image', new Blob(['hello']), 'cat.png'],
      ]),
    400,
    /image: not a PNG/,
  ],
  [
    'a file under another name',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['picture', new Blob([new Uint8Array(PNG)])],
      ]),
    400,
    /picture: no such file field/,
  ],
  [
    'a form with two names',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['image', new Blob([new Uint8Array(PNG)])],
        ['image_url', picturesUrl],
      ]),
    400,
    /image, image_url: send/,
  ],
  [
    'a form without an image',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
      ]),
    400,
    /image: Field required/,
  ],
  [
    'a form without a model',
    () =>
      editForm([
        ['prompt', 'x'],
        ['image', new Blob([new Uint8Array(PNG)])],
      ]),
    400,
    /model: Field required/,
  ],
  [
    'a form with a field that could pass for one that costs more',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['quality[]', 'high'],
        ['image', new Blob([new Uint8Array(PNG)])],
      ]),
    400,
    /quality\[\]: this field must be spelled quality/,
  ],
  [
    'a form with too many parts',
    () => editForm(Array.from({ length: 80 }, (_, at) => [`f${at}`, 'x'] as const)),
    400,
    /more than 64 parts/,
  ],
  [
    'more references than the entry takes',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ...Array.from({ length: 5 }, () => ['image[]', new Blob([new Uint8Array(PNG)])] as const),
      ]),
    400,
    /image: at most 4 reference images/,
  ],
  [
    'too many references',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ...Array.from({ length: 17 }, () => ['image[]', new Blob([new Uint8Array(PNG)])] as const),
      ]),
    400,
    /at most 16/,
  ],
  [
    'an image of 30 MB',
    () =>
      editForm([
        ['model', MODEL],
        ['prompt', 'x'],
        ['image', new Blob([new Uint8Array(PNG), new Uint8Array(30e6)])],
      ]),
    413,
    /exceeds 20 MB/,
  ],
]

test.each(BAD)('refuses %s; nothing is charged, sent or left over', async (_name, send, status, message) => {
  const before = provider.requests.length
  const response = await send()
  expect(response.status).toBe(status)
  expect(await response.json()).toMatchObject({
    type: 'error',
    error: {
      type: status === 413 ? 'request_too_large' : 'invalid_request_error',
      message: expect.stringMatching(message),
    },
  })
  expect([provider.requests.length, picturesServed]).toEqual([before, 0])
  await expectRow({ status, cost: 0n }, 0n)
  expect(temporaryFiles()).toEqual([])
})

test('refuses a form that is truncated anywhere', async () => {
  const whole = Buffer.from(
    await new Response(
      (() => {
        const form = new FormData()
        form.append('model', MODEL)
        form.append('image', new Blob([new Uint8Array(PNG)]), 'a.png')
        form.append('prompt', 'x')
        return form
      })(),
    ).arrayBuffer(),
  )
  const boundary = /^--(\S+)/.exec(whole.toString('latin1'))?.[1]
  const before = provider.requests.length
  for (const length of [0, 10, 60, 150, 250, whole.length - 60, whole.length - 5]) {
    const response = await fetch(`${running.url}/v1/images/edits`, {
      method: 'POST',
      headers: { 'x-api-key': account.apiKey, 'content-type': `multipart/form-data; boundary=${boundary}` },
      body: new Uint8Array(whole.subarray(0, length)),
    })
    expect(response.status, String(length)).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: expect.stringMatching(/multipart body: /) } })
  }
  const unbounded = await fetch(`${running.url}/v1/images/edits`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey, 'content-type': 'multipart/form-data' },
    body: new Uint8Array(whole),
  })
  expect(await unbounded.json()).toMatchObject({ error: { message: expect.stringContaining('no boundary') } })
  expect(provider.requests.length).toBe(before)
  expect(await running.balance(account.accountId)).toBe(CREDIT)
})

test('fetches nothing if the wallet is empty', async () => {
  account = await running.account(0n)
  const response = await edit({ image_url: picturesUrl })
  expect([response.status, picturesServed]).toEqual([402, 0])
})

test('an image that cannot be fetched costs nothing', async () => {
  serve = response => response.writeHead(404).end()
  expect((await edit({ image: picturesUrl })).status).toBe(400)
  serve = response => response.writeHead(200, { 'content-length': String(30e6) }).end(PNG)
  const large = await edit({ image: picturesUrl })
  expect(large.status).toBe(413)
  expect(await large.json()).toMatchObject({ error: { message: 'image: the image is larger than 20 MB' } })
  expect((await running.usage(account.accountId)).map(row => [row.status, row.cost])).toEqual([
    [400, 0n],
    [413, 0n],
  ])
  expect(await running.balance(account.accountId)).toBe(CREDIT)
})
