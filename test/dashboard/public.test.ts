/** The public pages, and what all pages have in common. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { modelsOf } from '../../src/catalogue/models.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'
import { readable, Visitor } from './visitor.ts'

let running: TestGateway
let visitor: Visitor
beforeAll(async () => {
  running = await startTestGateway()
  visitor = new Visitor(running.url)
})
afterAll(() => running.close())

const PUBLIC = [
  '/',
  '/models',
  '/models/req/gpt-image-2',
  '/compare?model=opus&model=gpt-5.5&model=req/gpt-image-2',
  '/quickstart',
  '/reference',
  '/register',
  '/signin',
  '/forgot',
]

test('the front page is HTML for browsers and JSON for programs, at one address', async () => {
  const page = await visitor.get('/')
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  const program = await fetch(running.url, { headers: { accept: '*/*' } })
  expect(program.headers.get('content-type')).toContain('application/json')
  expect(await program.json()).toMatchObject({ service: 'svc', models: LASTING_TABLES.entries.length })
  expect([page.headers.get('vary'), program.headers.get('vary')].every(vary => vary?.includes('accept'))).toBe(true)
})

test('all pages agree on how many models there are, and how many variants', async () => {
  const catalogue = createCatalogue(LASTING_TABLES)
  const models = modelsOf(catalogue).length
  const names = catalogue.items.length
  const list = await visitor.get('/models')
  expect(readable((await visitor.get('/')).html)).toContain(`One key. ${models} AI models. Paid in dong.`)
  expect(readable(list.html)).toContain(`${models} models in ${names} variants.`)
  expect(list.html).toContain(`content="Prices of ${models} AI models in Vietnamese dong`)
  const listed = (await visitor.get('/sitemap.xml')).html.matchAll(/<loc>[^<]*(\/models\/[^<?]+)/g)
  expect(new Set([...listed].map(([, path]) => path)).size).toBe(models)
})

test('the sample receipt on the front page has the catalogue’s price', async () => {
  const { html } = await visitor.get('/')
  // 812 input and 264 output tokens, at 8,300 dong per million.
  expect(readable(html)).toContain('8,9308 ₫')
})

test('every public page says what it may load, and loads nothing else', async () => {
  for (const path of PUBLIC) {
    const { status, headers, html } = await visitor.get(path)
    expect([path, status]).toEqual([path, 200])
    const policy = headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(html).not.toMatch(/<script(?![^>]+src=)/)
    expect(html).not.toMatch(/\s(style|on\w+)="/)
    const links = html.replace(/<link rel="(?:canonical|alternate)"[^>]*>/g, '')
    const loaded = [...links.matchAll(/<(?:script|link|img)[^>]+(?:src|href)="([^"]+)"/g)].map(match => match[1])
    expect(loaded.filter(source => !source?.startsWith('/assets/'))).toEqual([])
  }
})

test('each page weighs less than 60 kB at a first visit, with everything that it loads', async () => {
  const headers = { 'accept-encoding': 'br' }
  for (const path of [...PUBLIC, '/models?q=claude']) {
    const { html } = await visitor.get(path)
    const assets = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(match => match[1] as string)
    const sizes = await Promise.all([...new Set(assets)].map(asset => sizeOf(asset, headers)))
    const total = (await sizeOf(path, { ...headers, accept: 'text/html' })) + sizes.reduce((sum, size) => sum + size, 0)
    expect([path, total < 60_000 || total]).toEqual([path, true])
  }
})

/** The size of a reply on the wire: `inject` does not decode replies. */
async function sizeOf(url: string, headers: Record<string, string>): Promise<number> {
  const response = await running.gateway.server.inject({ url, headers })
  expect(response.statusCode).toBe(200)
  return response.rawPayload.length
}

test('assets are named by their content and kept for a year; others are not found', async () => {
  const { html } = await visitor.get('/')
  const path = /\/assets\/app\.[0-9a-f]{12}\.css/.exec(html)?.[0] as string
  const asset = await fetch(running.url + path)
  expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  expect(asset.headers.get('content-type')).toBe('text/css; charset=utf-8')
  expect((await fetch(`${running.url}/assets/app.000000000000.css`)).status).toBe(404)
  expect((await fetch(`${running.url}/assets/..%2fdashboard.ts`)).status).toBe(404)
})

test('each snippet has the base address that its kind of client needs', async () => {
  const text = readable((await visitor.get('/quickstart')).html)
  expect(text).toContain('OpenAI(base_url="http://gateway.test/v1"')
  expect(text).toContain('Anthropic(base_url="http://gateway.test",')
  // Every snippet prints its reply when it is run unchanged.
  expect(text.match(/print\(|console\.log\(/g)).toHaveLength(9)
  expect(text).toContain('export ANTHROPIC_BASE_URL=http://gateway.test export ANTHROPIC_AUTH_TOKEN=$KEY')
  expect(text).toContain('base_url = "http://gateway.test/v1" env_key = "GATEWAY_KEY" wire_api = "responses"')
  // Claude Code also calls a small model in the background. Its default is expensive, so the instructions set a cheap one.
  expect(text).toContain('Without that line it would be claude-haiku-4-5 (6.500 ₫ per 1M tokens); here it is')
})

test('language and colours follow the browser until they are chosen, and then stay', async () => {
  const person = new Visitor(running.url)
  expect((await person.get('/', { 'accept-language': 'fr, en;q=0.3, vi;q=0.8' })).html).toContain('<html lang="vi"')
  expect((await person.get('/', { 'accept-language': 'en-GB,en;q=0.9' })).html).toContain('<html lang="en"')
  const chosen = await person.get('/models?q=opus&language=vi&theme=dark')
  expect([chosen.status, chosen.location]).toEqual([303, '/models?q=opus'])
  expect((await person.get('/models')).html).toContain('<html lang="vi" data-theme="dark"')
  expect((await person.get('/?language=xx')).status).toBe(200)
})

test('an unknown path is a page for browsers, and the usual error body for programs', async () => {
  const page = await visitor.get('/nothing/here')
  expect([page.status, page.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  expect(readable(page.html)).toContain('Page not found')
  const program = await fetch(`${running.url}/nothing/here`)
  expect(program.status).toBe(404)
  expect(await program.json()).toMatchObject({
    type: 'error',
    error: { type: 'not_found_error', code: 'route_not_found' },
  })
})

test('a page that is not there offers to sign in, the same for pages of operators and for none', async () => {
  const anonymous = (html: string, path: string) =>
    html
      .replaceAll(/req_[0-9a-f]{32}/g, '')
      .replaceAll(encodeURIComponent(path), '')
      .replaceAll(path, '')
  const [pages, nothing] = await Promise.all(['/operator/log', '/nothing/here'].map(path => visitor.get(path)))
  expect(nothing?.html).toContain('href="/signin?next&#x3D;%2Fnothing%2Fhere">Sign in again if your session has ended<')
  expect(anonymous(pages?.html as string, '/operator/log')).toBe(anonymous(nothing?.html as string, '/nothing/here'))
})

test('a body that is not a form is refused with a page', async () => {
  const json = await visitor.post('/signin', {}, { 'content-type': 'application/json' })
  expect([json.status, readable(json.html).includes('This page only accepts forms')]).toEqual([415, true])
  const large = await visitor.post('/signin', { email: 'x'.repeat(70_000) })
  expect(large.status).toBe(413)
  const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`f${index}`, 'x']))
  expect((await visitor.post('/signin', many)).status).toBe(400)
})

test('the reference speaks the language of its reader, errors included', async () => {
  const pages = {
    en: await visitor.get('/reference'),
    vi: await visitor.get('/reference', { 'accept-language': 'vi' }),
  }
  const [english, vietnamese] = [readable(pages.en.html), readable(pages.vi.html)]
  for (const meaning of [
    'authentication_error . The API key is missing, wrong, revoked, paused or expired.',
    'not_found_error . There is no such model or path.',
    'permission_error . This API key may not call this model.',
  ]) {
    expect([meaning, english.includes(meaning)]).toEqual([meaning, true])
    expect([meaning, vietnamese.includes(meaning.split(' . ')[1] as string)]).toEqual([meaning, false])
  }
  expect(english).not.toContain('did not come from one of our pages')
  expect(readable(pages.vi.html)).toContain(
    'authentication_error . Khóa API sai, thiếu, đã thu hồi, tạm dừng hoặc hết hạn.',
  )
})

test('the OpenAPI document describes every route that takes a key, and real replies keep to it', async () => {
  const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as OpenApiDocument
  expect(document.openapi).toBe('3.1.0')
  expect(document.servers).toEqual([{ url: 'http://gateway.test' }])
  const described = Object.entries(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map(method => `${method.toUpperCase()} ${path}`),
  )
  expect(described.sort()).toEqual([
    'GET /v1/key',
    'GET /v1/models',
    'GET /v1/models/{id}',
    'POST /v1/audio/speech',
    'POST /v1/chat/completions',
    'POST /v1/images/edits',
    'POST /v1/images/generations',
    'POST /v1/messages',
    'POST /v1/messages/count_tokens',
    'POST /v1/responses',
    'POST /v1/responses/input_tokens',
  ])
  const { apiKey } = await running.account(10_000_000_000n)
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  ajv.addSchema(document, 'api')
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const example = operation.requestBody?.content['application/json']?.example
      if (example !== undefined) {
        const schema = operation.requestBody?.content['application/json']?.schema.$ref
        expect([path, ajv.validate({ $ref: `api${schema}` }, example), ajv.errorsText()]).toEqual([
          path,
          true,
          'No errors',
        ])
      }
      const response = await fetch(running.url + path.replace('{id}', 'svc/claude-opus-5'), {
        method,
        headers: { 'x-api-key': apiKey },
        ...(example !== undefined && { body: JSON.stringify(example) }),
      })
      expect([path, response.status]).toEqual([path, 200])
      expect([path, undescribed(operation, response)]).toEqual([path, []])
      const schema = operation.responses['200']?.content?.['application/json']?.schema?.$ref
      if (schema === undefined) {
        expect(response.headers.get('content-type')).toMatch(/^audio\//)
        await response.arrayBuffer()
        continue
      }
      const valid = ajv.validate({ $ref: `api${schema}` }, await response.json())
      expect([path, valid, ajv.errorsText()]).toEqual([path, true, 'No errors'])
    }
  }
})

test('the OpenAPI document says what serves an unknown model name, and at what price', async () => {
  const document = (await (await fetch(`${running.url}/openapi.json`)).json()) as OpenApiDocument
  const { apiKey } = await running.account(10_000_000_000n)
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
    const operation = document.paths[path]?.post as OpenApiOperation
    const example = operation.requestBody?.content['application/json']?.example
    const response = await fetch(running.url + path, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: JSON.stringify({ ...example, model: 'no-such-model' }),
    })
    expect([path, response.status, response.headers.get('x-svc-model-mapped-from')]).toEqual([
      path,
      200,
      'no-such-model',
    ])
    expect([path, undescribed(operation, response)]).toEqual([path, []])
    expect(await response.json()).toMatchObject({ model: response.headers.get('x-svc-model') })
  }
  for (const language of ['en', 'vi'] as const) {
    const page = readable((await visitor.get('/reference', { 'accept-language': language })).html)
    const sentence = { en: 'Any other name is served by a default model', vi: 'Tên khác sẽ do một mô hình mặc định' }
    expect(page).toContain(sentence[language])
  }
})

/** Headers of a reply to a billed call that the document does not describe. `simulated` and `wire` exist only in development. */
function undescribed({ responses }: OpenApiOperation, response: Response): string[] {
  const described = responses['200']?.headers
  if (described === undefined) return []
  const inDevelopment = ['x-svc-simulated', 'x-svc-wire']
  return [...response.headers.keys()].filter(
    name => name.startsWith('x-svc-') && !inDevelopment.includes(name) && !(name in described),
  )
}

interface OpenApiDocument {
  readonly openapi: string
  readonly servers: unknown
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { $ref: string }; readonly example?: object }>
  }
  readonly responses: Record<
    string,
    {
      readonly headers?: Record<string, object>
      readonly content?: Record<string, { readonly schema?: { $ref?: string } }>
    }
  >
}
