/** Pages that everybody may see, and what is true of every page. */

import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DashboardOptions } from '../../src/dashboard/options.ts'
import { latestFigures } from '../../src/dashboard/public/model-figures.ts'
import { ERRORS } from '../../src/errors.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
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
  expect(readable(page.html)).toContain('One key. 90 AI models. Paid in dong.')
  const program = await fetch(running.url, { headers: { accept: '*/*' } })
  expect(program.headers.get('content-type')).toContain('application/json')
  expect(await program.json()).toMatchObject({ service: 'svc', models: 90 })
  expect([page.headers.get('vary'), program.headers.get('vary')].every(vary => vary?.includes('accept'))).toBe(true)
})

test('the receipt of the front page is what the catalogue makes of it', async () => {
  const { html } = await visitor.get('/')
  // 812 + 264 tokens at 8.300 ₫ per million.
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

/** Bytes on the wire: what `inject` hands over is not decoded. */
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

/** Names of the models on the price list, in its order. */
function listed(html: string): string[] {
  return [...html.matchAll(/<h2><a href="\/models\/[^"]+">([^<]+)<\/a>/g)].map(match => match[1] as string)
}

const modelsWith = (wanted: (entry: (typeof TABLES.entries)[number]) => boolean) => [
  ...new Set(TABLES.entries.filter(wanted).map(({ modelName }) => modelName)),
]

test('the price list has a card per model with each way to call it, and filters by every choice', async () => {
  const { html } = await visitor.get('/models')
  expect(listed(html).sort()).toEqual(modelsWith(() => true).sort())
  const codes = [...html.matchAll(/<code>([^<]+)<\/code>/g)].map(match => match[1])
  expect(codes.sort()).toEqual(TABLES.entries.map(({ id }) => id).sort())
  expect(readable(html)).toContain('650 ₫ / image')
  const cases: [string, (entry: (typeof TABLES.entries)[number]) => boolean][] = [
    ['channel=aws', entry => entry.channel === 'aws'],
    ['capability=vision', entry => entry.capabilities.includes('vision')],
    ['capability=image', entry => entry.kind === 'image'],
    ['capability=speech', entry => entry.kind === 'speech'],
    ['unit=request', entry => entry.price.per === 'request'],
    ['vendor=xai', entry => entry.vendor === 'xai'],
    ['context=1000000', entry => (entry.contextTokens ?? 0) >= 1_000_000],
    ['q=OPUS', entry => /opus/i.test(entry.name)],
    ['channel=aws&capability=vision&q=grok', entry => entry.id === 'svc/grok-4.3'],
    // Choices that there are not are no choice.
    ['vendor=nobody&context=1&price=2', () => true],
  ]
  for (const [query, wanted] of cases) {
    const { html: filtered } = await visitor.get(`/models?${query}`)
    expect([query, listed(filtered).sort()]).toEqual([query, modelsWith(wanted).sort()])
  }
  const price = /<select name="price">.*?<option value="(\d+)"/.exec(html)?.[1] as string
  expect(listed((await visitor.get(`/models?price=${price}`)).html).sort()).toEqual(
    modelsWith(entry => entry.price.per === 'mtok' && entry.price.vnd <= Number(price)).sort(),
  )
})

test('the price list is sorted by what is asked for', async () => {
  const order = async (sort: string) => listed((await visitor.get(`/models?capability=reasoning&sort=${sort}`)).html)
  const facts = new Map(TABLES.entries.toReversed().map(entry => [entry.modelName, entry]))
  const tokenPrice = (name: string) =>
    Math.min(
      ...TABLES.entries
        .filter(entry => entry.modelName === name)
        .map(({ price: { per, vnd } }) => (per === 'mtok' ? vnd : vnd + 1e6)),
    )
  const ascending = (values: (number | string)[]) => expect(values).toEqual(values.toSorted(compare))
  const compare = (left: number | string, right: number | string) => (left < right ? -1 : left > right ? 1 : 0)
  ascending((await order('price')).map(tokenPrice))
  ascending((await order('context')).map(name => -(facts.get(name)?.contextTokens ?? 0)))
  ascending((await order('newest')).map(name => facts.get(name)?.releasedOn ?? '').reverse())
  expect(await order('name')).toEqual((await order('featured')).toSorted((left, right) => left.localeCompare(right)))
  expect(new Set([...(await order('featured'))].slice(0, 3)).size).toBe(3)
})

test('a search forgives a letter and knows what people call things in both languages', async () => {
  const found = async (q: string) => {
    const { html } = await visitor.get(`/models?q=${encodeURIComponent(q)}`)
    return { names: listed(html), text: readable(html) }
  }
  for (const [typed, meant] of [
    ['cluade', 'claude'],
    ['sonet', 'sonnet'],
    ['gemni', 'gemini'],
    ['gtp', 'gpt'],
    ['deepseeek', 'deepseek'],
    ['grok-4.3 visoin', 'grok-4.3 vision'],
    ['gtp-5.5', 'gpt-5.5'],
  ] as const) {
    const { names, text } = await found(typed)
    expect([typed, names]).toEqual([typed, (await found(meant)).names])
    expect([typed, names.length > 0, text.includes(`closest match: “${meant}”`)]).toEqual([typed, true, true])
  }
  // Numbers are not letters: another version is another model.
  expect((await found('gpt-9.9')).names).toEqual([])
  for (const same of ['gpt5.5', 'GPT 5.5', 'gpt-5.5', 'openai gpt-5.5']) {
    expect([same, (await found(same)).names.slice(0, 1)]).toEqual([same, ['GPT-5.5']])
  }
  expect((await found('tạo ảnh')).names).toEqual(['GPT Image 2'])
  expect((await found('tao anh')).names).toEqual(['GPT Image 2'])
  expect((await found('giọng nói')).names).toEqual(['GPT-4o mini TTS'])
  expect((await found('Lập Trình')).names).toContain('Grok Build 0.1')
  expect((await found('đọc ảnh alibaba')).names.sort()).toEqual(['Qwen/Qwen3-VL-235B-A22B-Instruct', 'Qwen3.7 Plus'])
  expect((await found('nhanh')).names.length).toBeGreaterThan(2)
  expect((await found('opus')).names[0]).toBe('Claude Opus 5')
  expect((await found('opus')).text).not.toContain('closest match')
})

test('a card says from which size on a call at the fixed price is the cheaper one', async () => {
  const { html } = await visitor.get('/models?q=claude-opus-5')
  const card = html.split('<li class="card').find(each => each.includes('>Claude Opus 5<')) as string
  // 1.500 ₫ a call against 6.500 ₫ per million tokens.
  expect(readable(card)).toContain('Per call is cheaper from 230.770 tokens a call.')
  expect(readable(html.split('<li class="card').find(each => each.includes('>Claude Opus 4.7<')) ?? '')).not.toContain(
    'cheaper',
  )
})

test('models that were chosen stay chosen through a search, and stand beside each other', async () => {
  const { html } = await visitor.get('/models?q=gemini&model=claude-opus-5&model=gemini-3.5-flash&model=nothing')
  const chosen = [...html.matchAll(/name="model" value="([^"]+)" checked/g)].map(match => match[1])
  expect(chosen.sort()).toEqual(['claude-opus-5', 'gemini-3.5-flash'])
  // The form of the price list carries its filters along; the page's own address does without.
  const carried = await visitor.get('/compare?q=gemini&vendor=&sort=price&model=claude-opus-5&model=gemini-3.5-flash')
  expect([carried.status, carried.location]).toEqual([303, '/compare?model=claude-opus-5&model=gemini-3.5-flash'])
  const page = await visitor.get(`${carried.location}&in=100.000&out=0&calls=10`)
  const text = readable(page.html)
  expect(text).toContain('Claude Opus 5')
  expect(text).toContain('Gemini 3.5 Flash')
  // 100.000 tokens at 6.500 ₫ per million are 650 ₫ a call.
  expect(text).toMatch(/Claude Opus 5 Standard cheapest 650 ₫ 6\.500 ₫/)
  expect(text).toMatch(/Gemini 3\.5 Flash Per call 420 ₫ 4\.200 ₫/)
  expect(page.html).toContain('<meta name="robots" content="noindex">')
})

test('too few or too many models to compare, or unknown ones, are said to be', async () => {
  for (const query of ['', '?model=nothing', '?model=opus', '?model=opus&model=claude-opus-5']) {
    const { status, html } = await visitor.get(`/compare${query}`)
    expect([query, status, readable(html).includes('Choose 2 to 4 models')]).toEqual([query, 200, true])
  }
  const five = ['opus', 'sonnet', 'gpt-5.5', 'grok-4.3', 'kimi-k2.6'].map(id => `model=${id}`).join('&')
  const { html } = await visitor.get(`/compare?${five}`)
  expect(readable(html)).toContain('Only 4 models fit beside each other')
  expect(html.match(/<th scope="col"><a href="\/models/g)).toHaveLength(4)
})

test('the calculator shows each price of the model, the cheapest marked, and keeps what was typed wrong', async () => {
  const text = async (query: string) => readable((await visitor.get(`/models/claude-opus-5?${query}`)).html)
  expect(await text('in=20.000&out=1000&calls=1 000')).toMatch(
    /Standard cheapest 136,5 ₫ 136\.500 ₫ AWS 165,9 ₫ 165\.900 ₫ Per call 1\.500 ₫ 1\.500\.000 ₫/,
  )
  expect(await text('in=230770&out=0&calls=1')).toMatch(/Per call cheapest 1\.500 ₫/)
  for (const wrong of ['in=-1', 'in=abc', 'in=1e9', 'in=10.000.001', 'calls=0', 'out=1.5', 'in=']) {
    const { status, html } = await visitor.get(`/models/claude-opus-5?${wrong}`)
    expect([wrong, status, readable(html).includes('Enter a number from')]).toEqual([wrong, 200, true])
    expect([wrong, html.includes(`value="${wrong.split('=')[1]}"`)]).toEqual([wrong, true])
    expect(html).toContain('aria-invalid="true"')
  }
  const images = await visitor.get('/models/req/gpt-image-2?calls=100')
  expect(readable(images.html)).toContain('65.000 ₫')
  expect(images.html).not.toContain('name="in"')
})

test('a search for what is not there says so, and what was typed is only text', async () => {
  for (const q of ['%', '_', "' or 1=1", '<script>alert(1)</script>', '{{lookup this "x"}}', '\u0000']) {
    const { status, html } = await visitor.get(`/models?q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    expect(html).not.toContain('<script>alert')
    if (q.length > 1) expect(readable(html)).toContain('No matching models')
  }
})

test('a model has a page under its ids and its aliases; others are not found', async () => {
  for (const name of ['claude-opus-5', 'svc/claude-opus-5', 'req/claude-opus-5', 'opus', 'Claude-Opus-5']) {
    const { status, html } = await visitor.get(`/models/${name}`)
    expect([name, status]).toEqual([name, 200])
    expect([name, canonicalOf(html)]).toEqual([name, 'http://gateway.test/models/claude-opus-5?lang=en'])
    for (const id of ['claude-opus-5', 'svc/claude-opus-5', 'req/claude-opus-5']) {
      expect(html).toContain(`data-copy="${id}"`)
    }
  }
  expect((await visitor.get('/models/nothing')).status).toBe(404)
})

test('the page of a model has a first call in each of its formats, with the id that was asked for', async () => {
  const blocks = async (path: string) =>
    [...(await visitor.get(path)).html.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(match => match[1] as string)
  const chat = await blocks('/models/svc/claude-opus-5')
  expect(chat).toHaveLength(9)
  expect(chat.filter(code => !code.includes('svc/claude-opus-5'))).toEqual([])
  for (const path of ['/v1/messages', '/v1/chat/completions', '/v1/responses']) {
    expect(chat.filter(code => code.includes(`curl http://gateway.test${path}`))).toHaveLength(1)
  }
  expect(chat[0]).toContain('/v1/messages')
  expect((await blocks('/models/gpt-5.5'))[0]).toContain('/v1/chat/completions')
  expect(await blocks('/models/req/gpt-image-2')).toHaveLength(6)
  expect(await blocks('/models/req/gpt-4o-mini-tts')).toHaveLength(3)
})

test('the commands of a model page do as they stand, with a key', async () => {
  const { apiKey } = await running.account(10_000_000_000n)
  for (const id of ['claude-opus-5', 'gpt-5.5', 'req/gpt-image-2', 'req/gpt-4o-mini-tts']) {
    const { html } = await visitor.get(`/models/${id}`)
    const commands = [...html.matchAll(/<code>(curl [\s\S]*?)<\/code>/g)].map(match => unescaped(match[1] as string))
    for (const command of commands.filter(each => each.includes("-d '"))) {
      const path = /http:\/\/gateway\.test(\S+)/.exec(command)?.[1]
      const body = /-d '([\s\S]*?)'/.exec(command)?.[1] as string
      const headers = Object.fromEntries(
        [...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => [
          name,
          value?.replace('$KEY', apiKey),
        ]),
      ) as Record<string, string>
      const { status } = await fetch(running.url + path, { method: 'POST', headers, body })
      expect([id, path, status]).toEqual([id, path, 200])
    }
    expect(commands.length).toBeGreaterThan(0)
  }
})

test('a model page says how calls went in the last seven days, where there were enough, and reads it once for all', async () => {
  const other = await startTestGateway()
  try {
    const { sql } = other.database
    const count = (entry: string, status: number, calls: number, daysAgo: number) => sql`
      insert into call_hourly select date_trunc('hour', now() - ${`${daysAgo} days`}::interval), ${entry}, 'x', ${status}, ${calls},
        0, 0, 0, 0, 0, 0, 0, 0, gen_random_uuid(), gen_random_uuid()`
    await count('claude-opus-5', 200, 997, 6)
    await count('claude-opus-5', 502, 3, 1)
    await count('claude-opus-5', 502, 5_000, 8)
    await count('gpt-5.5', 200, 19, 1)
    await sql`insert into first_byte_hourly select date_trunc('hour', now()), 'claude-opus-5', step, 10
      from unnest(array[72, 80, 88]) as step`
    const someone = new Visitor(other.url)
    const page = async () => readable((await someone.get('/models/claude-opus-5')).html)
    await expect.poll(page).toMatch(/6\.500 ₫ \/ 1M tokens 99,7 % 1,1 s/)
    expect(await page()).toMatch(/7\.900 ₫ \/ 1M tokens – –/)
    expect(readable((await someone.get('/models/gpt-5.5')).html)).toMatch(/2\.400 ₫ \/ 1M tokens – –/)
    expect(readable((await someone.get('/compare?model=opus&model=gpt-5.5')).html)).toContain('Success rate 99,7 % –')
    // Read once, not for each view.
    await sql`delete from call_hourly`
    expect(readable((await someone.get('/models/claude-opus-5')).html)).toContain('99,7 %')
  } finally {
    await other.close()
  }
})

test('figures of models are read once for many views, and a page does without when they do not come', async () => {
  const reads: ((rows: []) => void)[] = []
  let nowMs = 1_000_000
  const warnings: unknown[] = []
  const options = {
    sql: { unsafe: () => new Promise(resolve => reads.push(resolve)) },
    now: () => new Date(nowMs),
    log: { warn: (said: unknown) => warnings.push(said) },
    limits: { modelFiguresSeconds: 300, modelFiguresWaitMs: 1 },
  } as unknown as DashboardOptions
  const [none] = await Promise.all(Array.from({ length: 20 }, () => latestFigures(options)))
  expect(none?.size).toBe(0)
  // One reading has two statements.
  expect(reads).toHaveLength(2)
  nowMs += 299_000
  await latestFigures(options)
  expect(reads).toHaveLength(2)
  nowMs += 2_000
  await latestFigures({ ...options })
  const broken = { ...options, sql: { unsafe: () => Promise.reject(new Error('gone')) } } as unknown as DashboardOptions
  expect((await latestFigures(broken)).size).toBe(0)
  expect(warnings).toHaveLength(1)
})

test('what is on its way out wears its last day, and names what comes after', async () => {
  const going = TABLES.entries.find(({ id }) => id === 'gpt-5') as (typeof TABLES.entries)[number]
  expect(going.deprecated).toMatchObject({ retiresOn: '2026-12-11', successor: 'gpt-6-sol' })
  const late = await startTestGateway({
    tables: {
      ...TABLES,
      entries: TABLES.entries.map(entry =>
        entry.id === 'gpt-5.5'
          ? { ...entry, deprecated: { sinceOn: '2020-01-01', retiresOn: '2099-12-11', successor: 'gpt-6-sol' } }
          : entry.id === 'gpt-5.2'
            ? { ...entry, deprecated: { sinceOn: '2020-01-01', retiresOn: '2020-12-11', successor: 'gpt-6-sol' } }
            : entry,
      ),
    },
  })
  try {
    const someone = new Visitor(late.url)
    const card = (await someone.get('/models')).html.split('<li class="card').find(each => each.includes('>GPT-5.5<'))
    expect(readable(card as string)).toContain('Ends 11/12/2099')
    const page = readable((await someone.get('/models/gpt-5.5')).html)
    expect(page).toContain('Ends 11/12/2099')
    expect(page).toContain('Move to gpt-6-sol')
    const gone = readable((await someone.get('/models/gpt-5.2')).html)
    expect(gone).toContain('gpt-5.2 has been shut down; calls that name it are now answered by gpt-6-sol.')
  } finally {
    await late.close()
  }
})

test('search engines are told what each public page is, in both languages, and which they may not have', async () => {
  const descriptions = new Set<string>()
  const titles = new Set<string>()
  const map = await (await fetch(`${running.url}/sitemap.xml`)).text()
  const listedUrls = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(match => match[1] as string)
  expect(listedUrls.length).toBe(2 * (4 + modelsWith(() => true).length))
  for (const url of listedUrls) {
    const path = url.replace('http://gateway.test', '')
    const { status, html } = await visitor.get(path, { 'accept-language': 'vi' })
    expect([path, status, canonicalOf(html)]).toEqual([path, 200, url])
    expect(html).toContain(`<html lang="${path.endsWith('?lang=en') ? 'en' : 'vi'}"`)
    expect(html).not.toContain('name="robots"')
    const alternates = [...html.matchAll(/hreflang="(vi|en|x-default)" href="([^"]+)">/g)].map(match => match[1])
    expect(alternates).toEqual(['vi', 'en', 'x-default'])
    descriptions.add(/<meta name="description" content="([^"]+)"/.exec(html)?.[1] as string)
    titles.add(/<title>([^<]+)</.exec(html)?.[1] as string)
  }
  // No two pages say the same of themselves.
  expect([descriptions.size, descriptions.has(undefined as never)]).toEqual([listedUrls.length, false])
  expect(titles.size).toBeGreaterThan(listedUrls.length * 0.9)
  for (const path of ['/signin', '/register', '/nothing', '/compare']) {
    const { html } = await visitor.get(path)
    expect([path, html.includes('content="noindex"'), html.includes('canonical')]).toEqual([path, true, false])
  }
  // A language in the address is not remembered, and not carried to the other one's link.
  const { html, headers } = await visitor.get('/models?lang=vi')
  expect(html).toContain('<html lang="vi"')
  expect(headers.getSetCookie()).toEqual([])
  expect(html).toContain('href="/models?language=en"')
})

test('robots.txt keeps test systems out of search engines, and old browsers get an icon', async () => {
  const robots = await fetch(`${running.url}/robots.txt`)
  expect(robots.headers.get('content-type')).toBe('text/plain; charset=utf-8')
  expect(await robots.text()).toBe('User-agent: *\nDisallow: /\n')
  const icon = await fetch(`${running.url}/favicon.ico`)
  expect(icon.headers.get('content-type')).toBe('image/x-icon')
  const bytes = Buffer.from(await icon.arrayBuffer())
  expect(bytes.subarray(0, 4)).toEqual(Buffer.from([0, 0, 1, 0]))
  expect(bytes.subarray(22, 26).toString('latin1')).toBe('\x89PNG')
})

test('the snippets carry the address that each kind of client wants', async () => {
  const text = readable((await visitor.get('/quickstart')).html)
  expect(text).toContain('OpenAI(base_url="http://gateway.test/v1"')
  expect(text).toContain('Anthropic(base_url="http://gateway.test",')
  // Who runs one as it stands sees the reply.
  expect(text.match(/print\(|console\.log\(/g)).toHaveLength(4)
  expect(text).toContain('export ANTHROPIC_BASE_URL=http://gateway.test export ANTHROPIC_AUTH_TOKEN=$KEY')
  expect(text).toContain('base_url = "http://gateway.test/v1" env_key = "GATEWAY_KEY" wire_api = "responses"')
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

test('what does not exist is a page for browsers and the one error body for programs', async () => {
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

test('a body that is no form is refused as a page', async () => {
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
  const messages = Object.values(ERRORS).map(({ message }) => message)
  const found = (html: string) => messages.filter(message => readable(html).includes(message)).length
  expect(found(pages.en.html)).toBeGreaterThan(5)
  expect(found(pages.vi.html)).toBe(0)
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

interface OpenApiDocument {
  readonly openapi: string
  readonly servers: unknown
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
}

interface OpenApiOperation {
  readonly requestBody?: {
    readonly content: Record<string, { readonly schema: { $ref: string }; readonly example?: object }>
  }
  readonly responses: Record<string, { readonly content?: Record<string, { readonly schema?: { $ref?: string } }> }>
}

function unescaped(html: string): string {
  return html.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')
}

function canonicalOf(html: string): string {
  return unescaped(/<link rel="canonical" href="([^"]+)"/.exec(html)?.[1] ?? '')
}
