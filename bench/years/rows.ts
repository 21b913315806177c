/** A year of a whole service: accounts, keys, orders, transfers and calls, most of them of a few accounts. The books balance. */

import { sumDays } from '../../src/ledger/day-totals.ts'
import { rollUpCalls } from '../../src/ledger/roll-up.ts'
import { HOURS_DAYS } from '../../src/ledger/roll-up-accounts.ts'
import type { Sql } from '../../src/lib/database.ts'
import { TRIED } from '../desk-rows.ts'
import { insertUsage, SUM_DAYS } from '../usage-rows.ts'

export interface Size {
  readonly accounts: number
  readonly keys: number
  /** At most; each account has a whole number of calls. */
  readonly calls: number
}

/** An account's share of the calls falls with its number: the first one has a tenth of them, half of a million have none. */
const SKEW = 1.05
/** The year is written in so many parts, each in the order of time, as calls come in. */
const PARTS = 52
const PAID_VND = 100_000_000
const CALL_MICRO_VND = 1_680_000
/** Every twentieth call of an account is an error: how many of the first n are. */
const errorsOf = (n: string): string => `((${n} + 17) / 20)`

/** The hash of a key's secret is that of its number. */
export const keyOf = (accountId: number, { accounts, keys }: Size): number =>
  accountId + accounts * (keys > accounts ? 1 : 0)

const ACCOUNTS = [
  `insert into account (email, email_verified_at, created_at)
    select 'customer-' || n || '@example.com', at, at
      from generate_series(1, $1::text::integer) n
     cross join lateral (select now() - interval '366 days' + interval '360 days' * n / $1::text::integer as at) joined`,
  `insert into wallet (account_id, balance_micro_vnd, seq)
    select account_id, ${PAID_VND}::bigint * 1000000 - ${CALL_MICRO_VND}::bigint * (calls - ${errorsOf('calls')}), calls + 1
      from account join bench_account using (account_id)`,
  `insert into topup_order (order_code, account_id, amount_vnd, created_at, expires_at, paid_vnd, first_paid_at)
    select 'ST' || lpad(account_id::text, 10, '0'), account_id, ${PAID_VND}, created_at, created_at + interval '1 day',
           ${PAID_VND}, created_at
      from account order by account_id`,
  `insert into bank_txn (provider, provider_ref, account_no, amount_vnd, direction, content, booked_at, received_at, via,
                         order_code, account_id, state, state_at)
    select 'bench', account_id, '1', ${PAID_VND}, 1, 'ST' || lpad(account_id::text, 10, '0'), created_at, created_at, 1,
           'ST' || lpad(account_id::text, 10, '0'), account_id, 1, created_at
      from account order by account_id`,
  `insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd, at)
    select account_id, 1, amount_vnd * 1000000, 1, 'bank_txn:' || bank_txn_id, amount_vnd * 1000000, state_at
      from bank_txn order by account_id`,
]

/** Every account has its keys; the calls are those of the last. */
const KEYS = `insert into api_key (account_id, key_id, key_hash, pepper_id, last4, created_at) overriding system value
  select 1 + (n - 1) % $2::text::integer, n, sha256(n::text::bytea), 1, 'abcd', now() - interval '366 days'
    from generate_series(1, $1::text::integer) n`

/** How many calls each account makes, and where in its rhythm it begins. */
const SHARES = [
  'create unlogged table bench_account (account_id bigint primary key, calls bigint, phase double precision)',
  `insert into bench_account
    select n, floor($2::text::double precision * weight / sum(weight) over ()), mod(n * 0.618, 1)
      from (select n, power(n, -${SKEW}) as weight from generate_series(1, $1::text::integer) n) weights`,
]

/** Calls from share $1 to share $2 of the year. */
const CALLS = `(
  select account_id, n,
         case when n % 20 = 3 then 502 else 200 end as status,
         (array['first', 'second', 'third'])[1 + n % 3] as upstream,
         case when n % 20 = 3 then 0 else ${CALL_MICRO_VND} end as cost,
         -interval '365 days' * (1 - (n - 1 + phase) / calls) - interval '1 hour' as age
    from bench_account
   cross join lateral generate_series(ceil($1::text::double precision * calls - phase)::bigint + 1,
                                      ceil($2::text::double precision * calls - phase)::bigint) n
   order by age) calls`

const BUILT_AFTERWARDS = [
  'create index usage_time on usage (account_id, closed_at)',
  'create unique index usage_call on usage (call_id, account_id)',
  'alter table usage add primary key (account_id, seq)',
]

/** Fills a migrated database, whichever migrations it has so far; sums that its version knows are made as by its gateway. */
export async function fillYear(sql: Sql, size: Size): Promise<void> {
  const [accounts, keys] = [String(size.accounts), String(size.keys)]
  await sql.unsafe(`set work_mem = '512MB'; set maintenance_work_mem = '1GB'; set synchronous_commit = off`)
  await sql.unsafe(SHARES[0] as string)
  await sql.unsafe(SHARES[1] as string, [accounts, String(size.calls)])
  await sql.unsafe(ACCOUNTS[0] as string, [accounts])
  for (const statement of ACCOUNTS.slice(1)) await sql.unsafe(statement)
  await sql.unsafe(KEYS, [keys, accounts])
  await sql.unsafe(`select setval(pg_get_serial_sequence('api_key', 'key_id'), $1::text::bigint)`, [keys])
  await sql.unsafe('alter table usage disable trigger all')
  await sql.unsafe('drop index usage_time, usage_call; alter table usage drop constraint usage_pkey')
  const columns = await columnsOf(sql, 'usage')
  const values = {
    ...Object.fromEntries(Object.entries(TRIED).filter(([name]) => columns.has(name))),
    seq: 'n + 1',
    key_id: size.keys > size.accounts ? `account_id + ${size.accounts}` : 'account_id',
    balance_after_micro_vnd: `${PAID_VND}::bigint * 1000000 - ${CALL_MICRO_VND}::bigint * (n - ${errorsOf('n')})`,
    ...(columns.has('tag') && { tag: `case when n % 3 = 0 then 'team-' || n % 10 end` }),
  }
  for (let part = 0; part < PARTS; part++) {
    await sql.unsafe(insertUsage(CALLS, values), [String(part / PARTS), String((part + 1) / PARTS)])
  }
  for (const statement of BUILT_AFTERWARDS) await sql.unsafe(statement)
  await sql.unsafe('alter table usage enable trigger all')
  await sql.unsafe('drop table bench_account')
}

/** Of a roll-up. */
const CALLS_IN_A_TURN = 100_000
const YEAR_SECONDS = 366 * 86_400

/** What the housekeeping of a year has made of the calls. */
export async function sumYear(sql: Sql, { calls }: Size): Promise<void> {
  await sql.unsafe(SUM_DAYS)
  await sql.unsafe('vacuum analyze')
  await sql.unsafe(`update call_roll_up set closed_before = now() - interval '366 days'`)
  const seconds = Math.max(86_400, Math.floor((YEAR_SECONDS * CALLS_IN_A_TURN) / Math.max(CALLS_IN_A_TURN, calls)))
  while (!(await rollUpCalls(sql, { secondsMin: seconds, secondsMax: seconds })).done);
  await sql.unsafe(SUM_HOURS)
  await sql.unsafe('update usage_roll_up set closed_before = now()')
  await sumDays(sql)
  await sql.unsafe(COUNTED)
  await sql.unsafe('vacuum analyze')
}

/** Hours of the last weeks, days before. */
const SUM_HOURS = `insert into usage_hourly
  select account_id, case when closed_at < now() - interval '${HOURS_DAYS} days'
           then date_trunc('day', closed_at at time zone 'Asia/Ho_Chi_Minh') at time zone 'Asia/Ho_Chi_Minh'
           else date_trunc('hour', closed_at, 'UTC') end,
         key_id, entry_id, status, coalesce(tag, ''), count(*), sum(input_tokens), sum(cached_input_tokens), sum(output_tokens),
         sum(reasoning_tokens), sum(images), sum(charged_micro_vnd)
    from usage group by 1, 2, 3, 4, 5, 6`
/** All but the last day that is over. */
const COUNTED = `update api_key k set counted_before = day, counted_micro_vnd = coalesce((
    select sum(charged_micro_vnd) from usage_daily daily
     where daily.account_id = k.account_id and daily.key_id = k.key_id and daily.day < today.day), 0)
  from (select (now() at time zone 'Asia/Ho_Chi_Minh')::date - 2 as day) today`

async function columnsOf(sql: Sql, table: string): Promise<ReadonlySet<string>> {
  const rows = await sql.unsafe(
    'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1',
    [table],
  )
  return new Set(rows.map(({ name }) => name))
}
