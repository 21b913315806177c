/**
 * Fills a database with a year's data of a whole service: accounts, keys, top-up orders, bank transfers and calls. A few
 * accounts make most of the calls. The books balance.
 */

import { openDatabase, type Sql } from '../../src/lib/database.ts'
import { USAGE_VALUES } from '../desk-rows.ts'
import { insertUsage } from '../usage-rows.ts'
import { SESSION, withoutIndexes } from './indexes.ts'

export interface Size {
  readonly accounts: number
  readonly keys: number
  /** Upper limit. Each account's share is rounded down, so there may be fewer calls. */
  readonly calls: number
}

/**
 * Zipf exponent of the calls per account: account `n` makes calls in proportion to `n ** -SKEW`. The first account makes a
 * tenth of all calls; out of a million accounts, half make none.
 */
const SKEW = 1.05
/**
 * Number of transactions in which the year's calls are inserted, over `WRITERS` connections. Each inserts its calls in order of
 * time, as they would have come in.
 */
const PARTS = 24
const WRITERS = 2
const PAID_VND = 100_000_000
const CALL_MICRO_VND = 1_680_000
/** SQL for the number of failed calls among an account's first n. Calls 3, 23, 43, … fail: those with `n % 20 = 3`. */
const errorsOf = (n: string): string => `((${n} + 17) / 20)`

/** Id of the key that makes the account's calls: the account's last one. The key's secret is its id in decimal digits. */
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

/** SQL that assigns keys to accounts round-robin. */
const KEYS = `insert into api_key (account_id, key_id, key_hash, pepper_id, last4, created_at) overriding system value
  select 1 + (n - 1) % $2::text::integer, n, sha256(n::text::bytea), 1, 'abcd', now() - interval '366 days'
    from generate_series(1, $1::text::integer) n`

/** How many calls each account makes, at even intervals. Its `phase` shifts them, so that accounts do not call in step. */
const SHARES = [
  'create unlogged table bench_account (account_id bigint primary key, calls bigint, phase double precision)',
  `insert into bench_account
    select n, floor($2::text::double precision * weight / sum(weight) over ()), n * golden - floor(n * golden)
      from (select n, power(n::double precision, -${SKEW}::double precision) as weight, 0.618::double precision as golden
              from generate_series(1, $1::text::integer) n) weights`,
]

/** SQL for the calls from $1 to $2, given as fractions of the year. */
const CALLS = `(
  select account_id, n, at, case when n % 20 = 3 then 502 else 200 end as status,
         case when n % 20 = 3 then 0 else ${CALL_MICRO_VND} end as cost
    from (
      select account_id, n, now() - make_interval(secs => 3600 + 31536000 * (1 - (n - 1 + phase) / calls)) as at
        from bench_account
       cross join lateral generate_series(ceil($1::text::double precision * calls - phase)::bigint + 1,
                                          ceil($2::text::double precision * calls - phase)::bigint) n
       where calls > 0) drawn
   order by at) calls`

/** SQL for the `attempts` of calls 0 to 299. Later calls repeat them, because building them for each row would be slow. */
const ATTEMPTS = `(select array_agg(
    case when n % 100 = 0
      then '[{"credential":"first#1","model":"m","startedMs":1,"endedMs":300,"outcome":"upstream_failed","status":503}]'::jsonb
      else '[]'::jsonb end
    || jsonb_build_array(jsonb_build_object('credential', (array['first', 'second', 'third'])[1 + n % 3] || '#1',
         'model', 'model-' || n % 10, 'startedMs', 1, 'endedMs', 900,
         'outcome', case when n % 20 = 3 then 'upstream_failed' else 'ok' end)) order by n)
  from generate_series(0, 299) n)`
/** SQL for a UUIDv7 without random bits: generating them would take as long as the rest of the row. */
const CALL_ID = `(lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') || '7'
    || lpad(to_hex(n % 4096), 3, '0') || '8' || lpad(to_hex(account_id), 7, '0') || lpad(to_hex(n), 8, '0'))::uuid`

/** Fills a database with a year of data. The schema may be older than this tree's. */
export async function fillYear(sql: Sql, size: Size, url: string): Promise<void> {
  const [accounts, keys] = [String(size.accounts), String(size.keys)]
  await sql.unsafe(SESSION)
  await sql.unsafe(SHARES[0] as string)
  await sql.unsafe(SHARES[1] as string, [accounts, String(size.calls)])
  await sql.unsafe(ACCOUNTS[0] as string, [accounts])
  for (const statement of ACCOUNTS.slice(1)) await sql.unsafe(statement)
  await sql.unsafe(KEYS, [keys, accounts])
  await sql.unsafe(`select setval(pg_get_serial_sequence('api_key', 'key_id'), $1::text::bigint)`, [keys])
  await sql.unsafe('alter table usage disable trigger all')
  await withoutIndexes(sql, 'usage', () => writeCalls(url, size))
  await sql.unsafe('alter table usage enable trigger all')
  await sql.unsafe('drop table bench_account')
}

async function writeCalls(url: string, size: Size): Promise<void> {
  const writers = openDatabase({
    url,
    name: 'bench',
    connectionsMax: WRITERS,
    statementTimeoutMs: 3_600_000,
    connectTimeoutMs: 60_000,
  })
  const columns = await columnsOf(writers, 'usage')
  const values = {
    ...Object.fromEntries(Object.entries(USAGE_VALUES).filter(([name]) => columns.has(name))),
    seq: 'n + 1',
    call_id: CALL_ID,
    opened_at: 'at',
    closed_at: 'at',
    key_id: size.keys > size.accounts ? `account_id + ${size.accounts}` : 'account_id',
    balance_after_micro_vnd: `${PAID_VND}::bigint * 1000000 - ${CALL_MICRO_VND}::bigint * (n - ${errorsOf('n')})`,
    ...(columns.has('attempts') && { attempts: `(${ATTEMPTS})[1 + n % 300]` }),
    ...(columns.has('tag') && { tag: `case when n % 3 = 0 then 'team-' || n % 10 end` }),
  }
  let part = 0
  const write = async (): Promise<void> => {
    while (part < PARTS) {
      const share = part++
      await writers.begin(async transaction => {
        await transaction.unsafe(`set local work_mem = '512MB'; set local synchronous_commit = off`)
        await transaction.unsafe(insertUsage(CALLS, values), [String(share / PARTS), String((share + 1) / PARTS)])
      })
      // So that later rows fill the gaps at the end of earlier pages, as they do in a table that grows under autovacuum.
      await writers.unsafe('vacuum usage')
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, write))
  await writers.end()
}

async function columnsOf(sql: Sql, table: string): Promise<ReadonlySet<string>> {
  const rows = await sql.unsafe(
    'select column_name as name from information_schema.columns where table_schema = current_schema() and table_name = $1',
    [table],
  )
  return new Set(rows.map(({ name }) => name))
}
