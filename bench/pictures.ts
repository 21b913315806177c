/**
 * Takes the README's screenshots in headless Chromium, in light and dark mode, signed in to an account with a month of calls.
 * Run: make pictures (CHROMIUM=path if it is not /usr/bin/chromium).
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { createAccount } from '../src/accounts/accounts.ts'
import { credit } from '../src/ledger/credit.ts'
import { rollUpAccounts } from '../src/ledger/roll-up-accounts.ts'
import type { Sql } from '../src/lib/database.ts'
import { microVnd } from '../src/lib/money.ts'
import { type SignedIn, whileSignedIn } from './signed-in.ts'

const FOLDER = fileURLToPath(new URL('../docs/pictures/', import.meta.url))
const PAGES = { usage: '/usage', models: '/models' } as const
const SIZE = { width: 1200, height: 1040 }
const CALLS = 900
const BALANCE_MICRO_VND = 412_350_000_000n

await whileSignedIn(fillAccount, takePictures, { SANDBOX: 'off' })

async function fillAccount(sql: Sql): Promise<number> {
  const { accountId } = await createAccount(sql, 'linh@example.com')
  await credit(sql, {
    accountId,
    amountMicroVnd: microVnd(BALANCE_MICRO_VND),
    kind: 'adjustment',
    reference: 'picture',
  })
  await fillMonth(sql, accountId)
  return accountId
}

/** Inserts 30 days of calls, made with three keys: more on weekdays than at weekends, and most of them to two models. */
async function fillMonth(sql: Sql, accountId: number): Promise<void> {
  const account = String(accountId)
  await sql.unsafe(
    `insert into api_key (account_id, key_hash, pepper_id, label)
     select $1::text::bigint, sha256(label::bytea), 1, label from unnest(array['laptop', 'website', 'night jobs']) as label`,
    [account],
  )
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens,
       cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
       balance_after_micro_vnd, latency_ms, streamed, estimated, opened_at, closed_at)
     select $1::text::bigint, (select seq from wallet) + n, uuidv7(t - now()), k.key_id, model, 1, 200, input, output, 0, 0, 0,
            price, 1, price * (input + output), price * (input + output), $3::text::bigint, 900 + n % 700, true, false, t, t
       from generate_series(1, $2::text::integer) n
      cross join lateral (select now() - interval '30 days' * (1 - n / $2::text::double precision)) as x(t)
      cross join lateral (select case when n % 9 < 5 then 'claude-sonnet-5' when n % 9 < 8 then 'gpt-5.5'
                                      else 'deepseek-v4-flash' end,
                                 case when n % 9 < 5 then 6500 when n % 9 < 8 then 2400 else 1500 end) as m(model, price)
      cross join lateral (select 2000 + (n * 7919) % 9000, 150 + (n * 104729) % 900) as c(input, output)
       join lateral (select key_id from api_key order by key_id offset (n / 4) % 3 limit 1) k on true
      where extract(isodow from t) < 6 or n % 4 = 0`,
    [account, String(CALLS), String(BALANCE_MICRO_VND)],
  )
  await sql.unsafe(
    `insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*), 0,
       sum(input_tokens), sum(output_tokens), 0, sum(cost_micro_vnd), sum(charged_micro_vnd) from usage group by 1, 2, 3, 4`,
  )
  // Roll up the inserted calls, because the page shows only what has been rolled up.
  await sql`update usage_roll_up set closed_before = now() - interval '31 days'`
  await rollUpAccounts(sql, { turnsMax: 1_000 })
}

async function takePictures({ baseUrl, token }: SignedIn): Promise<void> {
  mkdirSync(FOLDER, { recursive: true })
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--hide-scrollbars'],
  })
  try {
    for (const colorScheme of ['light', 'dark'] as const) {
      const context = await browser.newContext({ baseURL: baseUrl, locale: 'en-GB', colorScheme, viewport: SIZE })
      await context.addCookies([{ name: 'session', value: token, url: baseUrl }])
      const page = await context.newPage()
      for (const [name, path] of Object.entries(PAGES)) {
        await page.goto(path, { waitUntil: 'networkidle' })
        await page.screenshot({ path: join(FOLDER, `${name}-${colorScheme}.png`) })
      }
      await context.close()
    }
  } finally {
    await browser.close()
  }
}
