/**
 * Fills a database for the bench of the operators' pages: many accounts, and the calls, orders, transfers and log entries that
 * the pages show.
 */

import { sumDays } from '../src/ledger/day-totals.ts'
import { rollUpCalls } from '../src/ledger/roll-up.ts'
import type { Sql } from '../src/lib/database.ts'
import { insertUsage, SUM_DAYS, type UsageValues } from './usage-rows.ts'
import { SESSION, withoutIndexes } from './years/indexes.ts'

/**
 * SQL expressions for columns of `usage`, keyed by column name. The query must supply `n`, `status`, `upstream` and `cost`.
 * Every hundredth call was first tried at an upstream that failed.
 */
export const USAGE_VALUES: UsageValues = {
  requested_name: `case when n % 4 = 0 then 'vendor/model-' || n % 10 end`,
  status: 'status',
  cost_micro_vnd: 'cost',
  charged_micro_vnd: 'cost',
  first_byte_ms: '400 + n % 900',
  latency_ms: 'case when n % 1000 = 7 then 61000 else 900 + n % 5000 end',
  cache_write_tokens: '0',
  upstream_cost_micro_vnd: 'cost / 2',
  attempts: `case when n % 100 = 0
      then '[{"credential":"first#1","model":"m","startedMs":1,"endedMs":300,"outcome":"upstream_failed","status":503}]'::jsonb
      else '[]'::jsonb end
    || jsonb_build_array(jsonb_build_object('credential', upstream || '#1', 'model', 'model-' || n % 10, 'startedMs', 1,
         'endedMs', 900, 'outcome', case when status < 400 then 'ok' else 'upstream_failed' end))`,
  error_code: `case when status >= 400 then 'upstream_failed' end`,
}

/**
 * Adds twenty orders to each account, with codes that look as random as real ones. Each order gets a bank transfer and an entry
 * in the operators' log. Every hundredth transfer is not matched to its order.
 */
const MONEY_AND_LOG = [
  `insert into topup_order (order_code, account_id, amount_vnd, created_at, expires_at, paid_vnd, first_paid_at)
    select 'ST' || upper(left(md5((account_id * 20 + n)::text), 10)), account_id, 50000 * n, at, at + interval '1 day', 50000 * n, at
      from account cross join generate_series(1, 20) n cross join lateral (select now() - interval '4 days' * n as at) joined`,
  `insert into bank_txn (provider, provider_ref, bank_ref, account_no, amount_vnd, direction, content, booked_at, received_at, via,
                         order_code, account_id, state, reason, state_at, payer)
    select 'bench', n, 'FT' || n, '1', amount_vnd, 1, 'transfer ' || order_code, created_at, created_at, 1,
           case when matches then order_code end, case when matches then account_id end, case when matches then 1 else 2 end,
           case when matches then null else 1 end, created_at, 'NGUYEN VAN ' || account_id
      from (select *, row_number() over (order by created_at) as n from topup_order) orders
     cross join lateral (select n % 100 <> 0 as matches) facts order by n`,
  `insert into operator_action (at, operator_name, action, account_id, subject, reason)
    select created_at, 'operator@example.com', 'payment.assign', account_id, order_code, 'the receipt names it'
      from topup_order order by created_at`,
]

/**
 * Adds accounts with one key each, and calls that are spread over the last 90 days; one account makes a tenth of the calls.
 * There are ten models and three upstreams, plus a fourth that served only 50 calls in the middle of the period. Every 20th
 * call failed, every 100th failed over, and every 1,000th took longer than a minute. Then rolls the calls up.
 */
export async function fillDesk(sql: Sql, { calls, accounts }: { calls: number; accounts: number }): Promise<void> {
  await sql.unsafe(
    `insert into account (email, email_verified_at) select 'customer-' || n || '@example.com', now()
       from generate_series(1, $1::text::integer) n`,
    [String(accounts)],
  )
  await sql.unsafe(`insert into wallet (account_id) select account_id from account on conflict do nothing`)
  await sql.unsafe(
    `insert into api_key (account_id, key_hash, pepper_id, last4) select account_id, sha256(account_id::text::bytea), 1, 'abcd'
       from account where not exists (select from api_key k where k.account_id = account.account_id)`,
  )
  for (const statement of MONEY_AND_LOG) await sql.unsafe(statement)
  const rows = `(
    select owner as account_id, n, age, status, upstream, case when status < 400 then 1680000 else 0 end as cost
      from generate_series(1, $1::text::integer) n
     cross join lateral (select interval '90 days' * (n / $1::text::double precision - 1) as age,
       case when n % 10 = 0 then 1 else 1 + (n::bigint * 7919) % $2::text::integer end as owner,
       case when n % 20 = 3 then 502 else 200 end as status,
       case when n between $1::text::integer / 2 and $1::text::integer / 2 + 49 then 'rare'
            else (array['first', 'second', 'third'])[n % 3 + 1] end as upstream) facts) calls`
  await sql.unsafe(SESSION)
  await sql.unsafe('alter table usage disable trigger all')
  await withoutIndexes(sql, 'usage', async () => {
    await sql.unsafe(insertUsage(rows, USAGE_VALUES), [String(calls), String(accounts)])
  })
  await sql.unsafe('alter table usage enable trigger all')
  await sql.unsafe(SUM_DAYS)
  await sql.unsafe(
    'update wallet w set seq = (select coalesce(max(seq), 0) from usage u where u.account_id = w.account_id)',
  )
  await sql.unsafe(`update call_roll_up set closed_before = now() - interval '91 days'`)
  await sql.unsafe('vacuum analyze')
  while (!(await rollUpCalls(sql, { secondsMin: 86_400, secondsMax: 86_400 })).done);
  await sumDays(sql)
  await sql.unsafe('analyze')
}
