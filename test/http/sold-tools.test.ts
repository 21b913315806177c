/**
 * Tools priced per use: the hold covers their uses, which are counted and charged in all three formats, streamed or not.
 */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Tables } from '../../src/generated/types.ts'
import { audit } from '../../src/ledger/audit.ts'
import { exportUsageCsv } from '../../src/ledger/reports/csv.ts'
import { readUsageRows } from '../../src/ledger/reports/rows.ts'
import { startTestGateway, type TestAccount, type TestGateway } from '../support/gateway.ts'
import {
  type Answer,
  end,
  hang,
  json,
  type ScriptedUpstream,
  sse,
  startScriptedUpstream,
  until,
  write,
} from '../support/scripted-upstream.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const PER_VND = 1_000_000n
const CREDIT = 1_000_000n * PER_VND
/** The price of one search. */
const USE_VND = 500

/** Tables with a price for searches on every upstream but one, where searches are free. */
function selling(): Tables {
  return {
    ...LASTING_TABLES,
    entries: LASTING_TABLES.entries.map(entry => ({
      ...entry,
      upstreams: entry.upstreams.map(target => ({
        ...target,
        extras: {
          ...target.extras,
          tools: {
            ...target.extras.tools,
            web_search: target.via === 'xai' ? 'allow' : { price: { vnd: USE_VND, per: 'use' as const }, uses_max: 4 },
          },
        },
      })),
    })),
  }
}

let answer: Answer
let provider: ScriptedUpstream
let running: TestGateway
let account: TestAccount

beforeAll(async () => {
  provider = await startScriptedUpstream(() => answer)
  const url = `${provider.url}/v1`
  running = await startTestGateway({
    tables: selling(),
    upstreams: { openai: url, xai: url, moonshotai: url, anthropic: provider.url },
  })
})
beforeEach(async () => {
  account = await running.account(CREDIT)
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

const HI = [{ role: 'user', content: 'Tin tức hôm nay?' }]
const FORMATS = {
  messages: {
    path: '/v1/messages',
    model: 'claude-opus-5',
    vndPerMtok: 6500n,
    body: { max_tokens: 9, messages: HI, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
  },
  chat: {
    path: '/v1/chat/completions',
    model: 'gpt-5.5',
    vndPerMtok: 2400n,
    body: { messages: HI, web_search_options: {} },
  },
  responses: {
    path: '/v1/responses',
    model: 'gpt-5.5',
    vndPerMtok: 2400n,
    body: { input: 'Tin tức hôm nay?', tools: [{ type: 'web_search' }] },
  },
} as const
type Format = keyof typeof FORMATS

function call(format: Format, change: object = {}, signal?: AbortSignal) {
  const { path, model, body } = FORMATS[format]
  return fetch(running.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${account.apiKey}` },
    body: JSON.stringify({ model, ...body, ...change }),
    ...(signal && { signal }),
  })
}

function events(...data: object[]) {
  return data.map(each => {
    const { type } = each as { type?: string }
    return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(each)}\n\n`
  })
}

/**
 * A search as a block of the messages format, and as an item of the responses format. The action `open_page` does not count as a
 * search.
 */
const searchBlock = (id: string) => ({ type: 'server_tool_use', id, name: 'web_search', input: { query: 'ế' } })
const searchItem = (id: string, action = 'search') => ({
  type: 'web_search_call',
  id,
  status: 'completed',
  action: { type: action },
})
const ITEMS = [searchItem('ws_1'), searchItem('ws_2'), searchItem('ws_3'), searchItem('ws_4', 'open_page')]
const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Tin' }] }
const responseOf = (output: object[], more: object = {}) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output,
  usage: { input_tokens: 10, output_tokens: 2, total_tokens: 12 },
  ...more,
})
const messagesUsage = { input_tokens: 10, output_tokens: 2, server_tool_use: { web_search_requests: 3 } }
const chatUsage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c_1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason }],
  ...more,
})

/**
 * Replies that report searches, each with the number of searches to charge for. GPT's Chat replies have only citations, which
 * together count as one search.
 */
const WHOLE: Readonly<Record<string, readonly [format: Format, uses: number, reply: object]>> = {
  'messages, by usage': [
    'messages',
    3,
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [searchBlock('s_1'), { type: 'text', text: 'Tin' }],
      stop_reason: 'end_turn',
      usage: messagesUsage,
    },
  ],
  'chat, by usage': [
    'chat',
    3,
    {
      id: 'c_1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Tin' }, finish_reason: 'stop' }],
      usage: { ...chatUsage, server_side_tool_usage_details: { web_search_calls: 3 } },
    },
  ],
  'chat, by citations': [
    'chat',
    1,
    {
      id: 'c_1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Tin',
            annotations: [{ type: 'url_citation' }, { type: 'url_citation' }],
          },
          finish_reason: 'stop',
        },
      ],
      usage: chatUsage,
    },
  ],
  'responses, by items': ['responses', 3, responseOf([...ITEMS, message])],
  'responses, by its own count': [
    'responses',
    2,
    responseOf([...ITEMS, message], { tool_usage: { web_search: { num_requests: 2 } } }),
  ],
  'responses, without a search': ['responses', 0, responseOf([message])],
}

const STREAMS: Readonly<Record<string, readonly [format: Format, uses: number, text: string[]]>> = {
  'messages, by usage': [
    'messages',
    3,
    events(
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          usage: { input_tokens: 10, output_tokens: 1, server_tool_use: { web_search_requests: 0 } },
        },
      },
      { type: 'content_block_start', index: 0, content_block: searchBlock('s_1') },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'Tin' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: messagesUsage },
      { type: 'message_stop' },
    ),
  ],
  'chat, by usage': [
    'chat',
    3,
    [
      ...events(
        chunk({ role: 'assistant', content: 'Tin' }),
        chunk({}, 'stop'),
        chunk({}, null, {
          choices: [],
          usage: { ...chatUsage, server_side_tool_usage_details: { web_search_calls: 3 } },
        }),
      ),
      'data: [DONE]\n\n',
    ],
  ],
  'chat, by citations': [
    'chat',
    1,
    [
      ...events(
        chunk({ role: 'assistant', content: 'Tin' }),
        chunk({ annotations: [{ type: 'url_citation' }] }),
        chunk({ annotations: [{ type: 'url_citation' }] }),
        chunk({}, 'stop', { usage: chatUsage }),
      ),
      'data: [DONE]\n\n',
    ],
  ],
  'responses, by items': [
    'responses',
    3,
    events(
      {
        type: 'response.created',
        sequence_number: 0,
        response: responseOf([], { status: 'in_progress', usage: null }),
      },
      ...ITEMS.flatMap((item, output_index) => [
        { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
        { type: 'response.output_item.done', output_index, item },
      ]),
      { type: 'response.output_text.delta', output_index: 4, item_id: 'msg_1', delta: 'Tin' },
      { type: 'response.output_item.done', output_index: 4, item: message },
      { type: 'response.completed', response: responseOf([...ITEMS, message]) },
    ),
  ],
}

/** Fails unless the usage row, the wallet, the CSV and the audit agree. */
async function expectCharged(format: Format, uses: number, streamed: boolean) {
  const { vndPerMtok } = FORMATS[format]
  const extrasVnd = uses * USE_VND
  const cost = 12n * vndPerMtok + BigInt(extrasVnd) * PER_VND
  await running.gateway.readiness.idle()
  const { sql } = running.database
  const { rows } = await readUsageRows(sql, { accountId: account.accountId, filter: {} })
  expect(rows).toMatchObject([{ costMicroVnd: cost, chargedMicroVnd: cost, extrasVnd, streamed, status: 200 }])
  expect(await running.balance(account.accountId)).toBe(CREDIT - cost)
  let csv = ''
  const exported = { accountId: account.accountId, filter: {}, keyLabels: new Map<number, string>() }
  for await (const page of exportUsageCsv(sql, exported)) csv += page
  const [head, line] = csv.split('\r\n').map(row => row.split(','))
  const cells = Object.fromEntries((head ?? []).map((name, index) => [name, line?.[index]]))
  expect(cells).toMatchObject({ extras_vnd: String(extrasVnd), cost_vnd: decimal(cost), charged_vnd: decimal(cost) })
  expect((await audit(sql)).clean).toBe(true)
  return cost
}

/** Formats an amount in VND, as in headers and the CSV. */
function decimal(microVnd: bigint): string {
  return String(Number(microVnd) / 1_000_000)
}

test.each(Object.entries(WHOLE))(
  '%s: uses in a non-streamed reply are part of its cost',
  async (_name, [format, uses, reply]) => {
    answer = json(200, reply)
    const response = await call(format)
    expect(response.status).toBe(200)
    expect(response.headers.get('x-svc-left-out')).toBeNull()
    const cost = await expectCharged(format, uses, false)
    expect(response.headers.get('x-svc-cost-vnd')).toBe(decimal(cost))
  },
)

test.each(Object.entries(STREAMS))('%s: uses in a stream are part of its cost', async (_name, [format, uses, text]) => {
  answer = [sse(), ...text.map(event => write(event)), end()]
  const response = await call(format, { stream: true })
  expect(response.status).toBe(200)
  await response.text()
  await expectCharged(format, uses, true)
})

test('a client that leaves a stream pays for the searches made so far', async () => {
  const [, , text] = STREAMS['responses, by items'] as readonly [Format, number, string[]]
  answer = [sse(), ...text.slice(0, 6).map(event => write(event)), hang()]
  const leaving = new AbortController()
  const response = await call('responses', { stream: true }, leaving.signal)
  const reader = response.body?.getReader()
  let got = ''
  while (!got.includes('"ws_2","status":"completed"'))
    got += Buffer.from((await reader?.read())?.value ?? []).toString()
  leaving.abort()
  await expect.poll(async () => (await running.usage(account.accountId)).length).toBe(1)
  const { rows } = await readUsageRows(running.database.sql, { accountId: account.accountId, filter: {} })
  expect(rows).toMatchObject([{ status: 499, extrasVnd: 2 * USE_VND }])
})

test('a stream that ends early costs nothing, not even its searches', async () => {
  const [, , text] = STREAMS['responses, by items'] as readonly [Format, number, string[]]
  answer = [sse(), ...text.slice(0, 6).map(event => write(event)), end()]
  await (await call('responses', { stream: true })).text()
  const { rows } = await readUsageRows(running.database.sql, { accountId: account.accountId, filter: {} })
  expect(rows).toMatchObject([{ status: 502, costMicroVnd: 0n, extrasVnd: 0 }])
})

const HOLDS: readonly [name: string, format: Format, change: object, uses: bigint][] = [
  [
    'as many as the tool allows',
    'messages',
    { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }] },
    8n,
  ],
  [
    'as many as all definitions of the tool allow together',
    'messages',
    {
      tools: [
        { type: 'web_search_20250305', name: 'web_search', max_uses: 1 },
        { type: 'web_search_20260209', name: 'web_search', max_uses: 7 },
      ],
    },
    8n,
  ],
  ['as many as the call allows', 'responses', { max_tool_calls: 2 }, 2n],
  ['no fewer for a limit of another format', 'messages', { max_tool_calls: 1 }, 4n],
  ['as many as the catalogue says', 'responses', {}, 4n],
]

test.each(HOLDS)('money is held for uses: %s', async (_name, format, change, uses) => {
  const held = async (body: object) => {
    const gate = Promise.withResolvers<void>()
    const [, , reply] = WHOLE[format === 'messages' ? 'messages, by usage' : 'responses, by items'] as readonly [
      Format,
      number,
      object,
    ]
    answer = [until(gate.promise), ...json(200, reply)]
    const before = provider.requests.length
    const calling = call(format, body)
    await provider.received(before + 1)
    const [row] = await running.database
      .sql`select held_micro_vnd::text as held from wallet where account_id = ${account.accountId}`
    gate.resolve()
    expect((await calling).status).toBe(200)
    return BigInt(row?.held)
  }
  const withSearch = await held(change)
  const without = await held({ ...change, tools: undefined })
  const more = withSearch - without
  expect(more).toBeGreaterThanOrEqual(uses * BigInt(USE_VND) * PER_VND)
  // The tool's definition itself adds a few input tokens.
  expect(more).toBeLessThan(uses * BigInt(USE_VND) * PER_VND + PER_VND)
})

test('searches are added to a price per call', async () => {
  const [, , reply] = WHOLE['responses, by items'] as readonly [Format, number, object]
  answer = json(200, reply)
  const response = await call('responses', { model: 'req/gpt-5.5' })
  expect(response.headers.get('x-svc-cost-vnd')).toBe(String(900 + 3 * USE_VND))
})

test('where searches are free, the call costs its plain price', async () => {
  const [, , reply] = WHOLE['chat, by usage'] as readonly [Format, number, object]
  answer = json(200, reply)
  const response = await call('chat', { model: 'grok-4.3', web_search_options: undefined, search_parameters: {} })
  expect(response.status).toBe(200)
  expect(provider.requests.at(-1)?.json()).toHaveProperty('search_parameters')
  const { rows } = await readUsageRows(running.database.sql, { accountId: account.accountId, filter: {} })
  expect(rows).toMatchObject([{ extrasVnd: 0, status: 200 }])
})

test('a built-in search is counted by its calls', async () => {
  const calls = ['c_1', 'c_2'].map(id => ({
    id,
    type: 'builtin_function',
    function: { name: '$web_search', arguments: '{}' },
  }))
  answer = json(200, {
    id: 'c_1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      { index: 0, message: { role: 'assistant', content: '', tool_calls: calls }, finish_reason: 'tool_calls' },
    ],
    usage: chatUsage,
  })
  const tools = [{ type: 'builtin_function', function: { name: '$web_search' } }]
  const response = await call('chat', { model: 'kimi-k2.6', web_search_options: undefined, tools })
  expect(response.status).toBe(200)
  const { rows } = await readUsageRows(running.database.sql, { accountId: account.accountId, filter: {} })
  expect(rows).toMatchObject([{ extrasVnd: 2 * USE_VND }])
})

test('a converted call cannot carry priced tools: it is refused', async () => {
  const response = await call('messages', { model: 'gpt-5.5' })
  expect(response.status).toBe(400)
  expect((await running.usage(account.accountId)).map(row => row.cost)).toEqual([0n])
})
