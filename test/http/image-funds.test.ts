/** Calls for several images with too little money for all of them: at most part of one image is made unpaid. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'

const PER_VND = 1_000_000n
const MODEL = 'req/gpt-image-2'
const PRICE = 650n

let provider: ScriptedUpstream
let running: TestGateway

beforeAll(async () => {
  provider = await startScriptedUpstream(request => {
    const { n } = request.json() as { n: number }
    return json(200, { created: 1, data: Array.from({ length: n }, () => ({ b64_json: 'AAAA' })) })
  })
  running = await startTestGateway({ upstreams: { openai: `${provider.url}/v1` } })
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

async function draw(vnd: bigint, { n, keyLimitVnd = null }: { n: number; keyLimitVnd?: bigint | null }) {
  const { sql } = running.database
  const account = await running.account(vnd * PER_VND)
  const { accountId } = account
  const limit = keyLimitVnd === null ? null : String(keyLimitVnd * PER_VND)
  await sql`update api_key set monthly_cap_micro_vnd = ${limit} where key_id = ${account.keyId}`
  const before = provider.requests.length
  const response = await fetch(`${running.url}/v1/images/generations`, {
    method: 'POST',
    headers: { 'x-api-key': account.apiKey },
    body: JSON.stringify({ model: MODEL, prompt: 'a cat', n }),
  })
  const body = (await response.json()) as { error?: object }
  const [row] = await running.usage(accountId)
  const [holds] = await sql`select count(*)::int as open from hold where account_id = ${accountId}`
  const balance = await running.balance(accountId)
  return { status: response.status, body, row, calls: provider.requests.length - before, holds: holds?.open, balance }
}

test.each([
  ['an almost empty wallet', 1n, null, 1],
  ['a wallet with exactly the price of all but one', PRICE * 3n, null, 3],
  ['a key with little left of its limit', 100_000n, PRICE, 1],
] as const)(
  'with %s, a call for more images than that pays for is refused before any is made',
  async (_, vnd, key, most) => {
    const n = 4
    const { status, body, row, calls, holds, balance } = await draw(vnd, { n, keyLimitVnd: key })
    expect({ status, error: body.error, calls, holds, balance }).toEqual({
      status: 402,
      error: {
        type: 'insufficient_balance',
        message: `The balance, or what is left of this API key's limit, is enough for at most ${most} of the 4 images. Ask for fewer (n), or top up at http://gateway.test/topup.`,
        code: 'insufficient_balance',
        param: 'n',
      },
      calls: 0,
      holds: 0,
      balance: vnd * PER_VND,
    })
    expect(row).toMatchObject({ status: 402, cost: 0n })
  },
)

test.each([
  ['all of its money', PRICE * 3n + 1n, null, PRICE * 3n + 1n],
  ['one image at any price', 1n, null, 1n],
  ['a limit that only reaches into the last image', 100_000n, PRICE * 3n + 1n, PRICE * 4n],
] as const)('a call that leaves no whole image unpaid is served: %s', async (name, vnd, keyLimitVnd, charged) => {
  const n = name.startsWith('one') ? 1 : 4
  const { status, row } = await draw(vnd, { n, keyLimitVnd })
  expect(status).toBe(200)
  expect(row).toMatchObject({ cost: PRICE * BigInt(n) * PER_VND, charged: charged * PER_VND })
})
