/** The price list, the model pages, the comparison, the calculator, and what search engines are told. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import type { DashboardOptions } from '../../src/dashboard/options.ts'
import { latestFigures } from '../../src/dashboard/public/model-figures.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { LASTING_TABLES } from '../support/tables.ts'
import { readable, unescaped, Visitor } from './visitor.ts'

let running: TestGateway
let visitor: Visitor
beforeAll(async () => {
  running = await startTestGateway()
  visitor = new Visitor(running.url)
})
afterAll(() => running.close())

/** Names of the models on the price list, in order. */
function listed(html: string): string[] {
  return [...html.matchAll(/<h2><a href="\/models\/[^"]+">([^<]+)<\/a>/g)].map(match => match[1] as string)
}

const modelsWith = (wanted: (entry: (typeof LASTING_TABLES.entries)[number]) => boolean) => [
  ...new Set(LASTING_TABLES.entries.filter(wanted).map(({ modelName }) => modelName)),
]

test('the price list has a card per model with each way to call it, and filters by every choice', async () => {
  const { html } = await visitor.get('/models')
  expect(listed(html).sort()).toEqual(modelsWith(() => true).sort())
  const codes = [...html.matchAll(/<code>([^<]+)<\/code>/g)].map(match => match[1])
  expect(codes.sort()).toEqual(LASTING_TABLES.entries.map(({ id }) => id).sort())
  expect(readable(html)).toContain('650 ₫ / image')
  const cases: [string, (entry: (typeof LASTING_TABLES.entries)[number]) => boolean][] = [
    ['channel=aws', entry => entry.channel === 'aws'],
    ['capability=vision', entry => entry.capabilities.includes('vision')],
    ['capability=image', entry => entry.kind === 'image'],
    ['capability=speech', entry => entry.kind === 'speech'],
    ['unit=request', entry => entry.price.per === 'request'],
    ['vendor=xai', entry => entry.vendor === 'xai'],
    ['context=1000000', entry => (entry.contextTokens ?? 0) >= 1_000_000],
    ['q=OPUS', entry => /opus/i.test(entry.name)],
    ['channel=aws&capability=vision&q=grok', entry => entry.id === 'svc/grok-4.3'],
    // Unknown values of a filter are ignored.
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

test('the price list is sorted as asked', async () => {
  const order = async (sort: string) => listed((await visitor.get(`/models?capability=reasoning&sort=${sort}`)).html)
  const facts = new Map(LASTING_TABLES.entries.toReversed().map(entry => [entry.modelName, entry]))
  const tokenPrice = (name: string) =>
    Math.min(
      ...LASTING_TABLES.entries
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

test('a search forgives one wrong letter and knows what people call models in both languages', async () => {
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
  // A search forgives wrong letters but not wrong numbers, because another version is another model.
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

test('a card says from which call size on per-call pricing is cheaper', async () => {
  const { html } = await visitor.get('/models?q=claude-opus-5')
  const card = html.split('<li class="card').find(each => each.includes('>Claude Opus 5<')) as string
  // 1.500 ₫ per call compared with 6.500 ₫ per million tokens.
  expect(readable(card)).toContain('Per-call pricing is cheaper for calls of 230.770 tokens or more.')
  expect(readable(html.split('<li class="card').find(each => each.includes('>Claude Opus 4.7<')) ?? '')).not.toContain(
    'cheaper',
  )
})

test('models chosen for comparison stay chosen through a search, and are shown side by side', async () => {
  const { html } = await visitor.get('/models?q=gemini&model=claude-opus-5&model=gemini-3.5-flash&model=nothing')
  const chosen = [...html.matchAll(/name="model" value="([^"]+)" checked/g)].map(match => match[1])
  expect(chosen.sort()).toEqual(['claude-opus-5', 'gemini-3.5-flash'])
  // The price list's form also submits its filters; the redirect removes them from the address of the comparison.
  const carried = await visitor.get('/compare?q=gemini&vendor=&sort=price&model=claude-opus-5&model=gemini-3.5-flash')
  expect([carried.status, carried.location]).toEqual([303, '/compare?model=claude-opus-5&model=gemini-3.5-flash'])
  const page = await visitor.get(`${carried.location}&in=100.000&out=0&calls=10`)
  const text = readable(page.html)
  expect(text).toContain('Claude Opus 5')
  expect(text).toContain('Gemini 3.5 Flash')
  // 100.000 tokens at 6.500 ₫ per million cost 650 ₫ per call.
  expect(text).toMatch(/Claude Opus 5 Standard cheapest 650 ₫ 6\.500 ₫/)
  expect(text).toMatch(/Gemini 3\.5 Flash Per call 420 ₫ 4\.200 ₫/)
  expect(page.html).toContain('<meta name="robots" content="noindex">')
})

test('comparing too few, too many or unknown models gets an explanation', async () => {
  for (const query of ['', '?model=nothing', '?model=opus', '?model=opus&model=claude-opus-5']) {
    const { status, html } = await visitor.get(`/compare${query}`)
    expect([query, status, readable(html).includes('Choose 2 to 4 models')]).toEqual([query, 200, true])
  }
  expect((await visitor.get('/compare?model=nothing')).html).toContain('<div class="empty">')
  expect((await visitor.get('/compare?model=opus')).html).not.toContain('<div class="empty">')
  const five = ['opus', 'sonnet', 'gpt-5.5', 'grok-4.3', 'kimi-k2.6'].map(id => `model=${id}`).join('&')
  const { html } = await visitor.get(`/compare?${five}`)
  expect(readable(html)).toContain('Only 4 models fit side by side')
  expect(html.match(/<th scope="col"><a href="\/models/g)).toHaveLength(4)
})

test('the calculator says what its total covers', async () => {
  const text = async (path: string) => readable((await visitor.get(path)).html)
  expect(await text('/models/claude-opus-5')).toContain('Variant Per call Total for 1.000 calls')
  expect(await text('/models/claude-opus-5?calls=1')).toContain('Total for 1 call ')
  expect(await text('/models/req/gpt-image-2')).toContain('Variant Per image Total for 1.000 images')
})

test('the calculator shows each price of the model, marks the cheapest, and keeps invalid input', async () => {
  const text = async (query: string) => readable((await visitor.get(`/models/claude-opus-5?${query}`)).html)
  expect(await text('in=20.000&out=1000&calls=1 000')).toMatch(
    /Standard cheapest 136,5 ₫ 136\.500 ₫ AWS 165,9 ₫ 165\.900 ₫ Per call 1\.500 ₫ 1\.500\.000 ₫/,
  )
  expect(await text('in=230770&out=0&calls=1')).toMatch(/Per call cheapest 1\.500 ₫/)
  expect(await text('in=900.000&out=100.000')).not.toContain('longer than')
  expect(await text('in=900.000&out=100.001')).toContain(
    'A call of 1.000.001 tokens is longer than the context of Claude Opus 5.',
  )
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

test('a search without results says so, and what was typed is shown as plain text', async () => {
  for (const q of ['%', '_', "' or 1=1", '<script>alert(1)</script>', '{{lookup this "x"}}', '\u0000']) {
    const { status, html } = await visitor.get(`/models?q=${encodeURIComponent(q)}`)
    expect(status).toBe(200)
    expect(html).not.toContain('<script>alert')
    if (q.length > 1) expect(readable(html)).toContain('No matching models')
  }
  const nothing = async (more: string) => (await visitor.get(`/models?q=zzzqqq${more}`)).html
  expect(await nothing('')).not.toContain('formaction="/compare"')
  expect(await nothing('&model=opus')).toContain('formaction="/compare"')
})

test('a model has a page under its ids and its aliases; other names are not found', async () => {
  for (const name of ['claude-opus-5', 'svc/claude-opus-5', 'req/claude-opus-5', 'opus', 'Claude-Opus-5']) {
    const { status, html } = await visitor.get(`/models/${name}`)
    expect([name, status]).toEqual([name, 200])
    expect(html).toMatch(/href="\/playground\?model=[^"]*claude-opus-5"/)
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

test('a model page shows the last seven days’ figures if there were enough calls, and reads them once for all visitors', async () => {
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
    // The figures are cached, so another view does not read them again.
    await sql`delete from call_hourly`
    expect(readable((await someone.get('/models/claude-opus-5')).html)).toContain('99,7 %')
  } finally {
    await other.close()
  }
})

test('models’ figures are read once for many views, and a page is shown without them if the database does not answer', async () => {
  const reads: ((rows: []) => void)[] = []
  let nowMs = 1_000_000
  const warnings: unknown[] = []
  const options = {
    sql: { unsafe: () => new Promise(resolve => reads.push(resolve)) },
    now: () => new Date(nowMs),
    log: { warn: (entry: unknown) => warnings.push(entry) },
    limits: { modelFiguresSeconds: 300, modelFiguresWaitMs: 1 },
  } as unknown as DashboardOptions
  const [none] = await Promise.all(Array.from({ length: 20 }, () => latestFigures(options)))
  expect(none?.size).toBe(0)
  // Reading the figures from the database takes two statements.
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

test('a deprecated model shows its last day and names its successor', async () => {
  const late = await startTestGateway({
    tables: {
      ...LASTING_TABLES,
      entries: LASTING_TABLES.entries.map(entry =>
        entry.id === 'gpt-5.5'
          ? { ...entry, deprecated: { sinceOn: '2020-01-01', retiresOn: '2099-12-11', successor: 'gpt-6-sol' } }
          : entry.id === 'gpt-5.2'
            ? { ...entry, deprecated: { sinceOn: '2020-01-01', retiresOn: '2020-12-11', successor: 'gpt-6-sol' } }
            : entry.id === 'req/gpt-4o-mini-tts'
              ? { ...entry, deprecated: { sinceOn: '2020-01-01', retiresOn: '2020-12-11', successor: null } }
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
    const over = readable((await someone.get('/models/req/gpt-4o-mini-tts')).html)
    expect(over).toContain('Ended 11/12/2020')
    expect(over).not.toContain('Ends')
  } finally {
    await late.close()
  }
})

test('a model page shows what each use of a tool costs that the provider runs', async () => {
  const search = { web_search: { price: { vnd: 500, per: 'use' } } } as const
  const entries = LASTING_TABLES.entries.map(entry => {
    if (entry.id !== 'claude-opus-5') return entry
    const upstreams = entry.upstreams.map(target => {
      return { ...target, extras: { ...target.extras, tools: { ...target.extras.tools, ...search } } }
    })
    return { ...entry, upstreams }
  })
  const selling = await startTestGateway({ tables: { ...LASTING_TABLES, entries } })
  try {
    const someone = new Visitor(selling.url)
    const words = 'Tools that the provider runs, charged in addition for'
    expect(readable((await someone.get('/models/claude-opus-5')).html)).toContain(
      `${words} claude-opus-5: web_search 500 ₫ / use`,
    )
    expect(readable((await someone.get('/models/svc/claude-opus-5')).html)).not.toContain(words)
  } finally {
    await selling.close()
  }
})

test('search engines get a description of each public page, in both languages, and are kept from all others', async () => {
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
  // No two pages have the same description.
  expect([descriptions.size, descriptions.has(undefined as never)]).toEqual([listedUrls.length, false])
  expect(titles.size).toBeGreaterThan(listedUrls.length * 0.9)
  for (const path of ['/signin', '/register', '/nothing', '/compare']) {
    const { html } = await visitor.get(path)
    expect([path, html.includes('content="noindex"'), html.includes('canonical')]).toEqual([path, true, false])
  }
  // A language in the address is neither stored in a cookie nor carried into the link to the other language.
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

function canonicalOf(html: string): string {
  return unescaped(/<link rel="canonical" href="([^"]+)"/.exec(html)?.[1] ?? '')
}
