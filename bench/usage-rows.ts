/** Inserts many calls into the usage table, for benchmarks. */

import type { Sql } from '../src/lib/database.ts'

/**
 * Default SQL expression for each column of `usage`. May refer to `account_id`, `n` and `age` (a negative interval), which the
 * caller's query must select.
 */
const DEFAULTS = {
  account_id: 'account_id',
  seq: 'n',
  call_id: 'uuidv7(age)',
  key_id: 'account_id',
  entry_id: `'model-' || n % 10`,
  endpoint: '1',
  status: '200',
  input_tokens: '1000',
  output_tokens: '120',
  cached_input_tokens: '0',
  reasoning_tokens: '0',
  images: '0',
  price_vnd: '1500',
  price_per: '1',
  cost_micro_vnd: '1680000',
  charged_micro_vnd: '1680000',
  balance_after_micro_vnd: '0',
  latency_ms: '34',
  streamed: 'true',
  estimated: 'false',
  opened_at: 'now() + age',
  closed_at: 'now() + age',
}

/** SQL expressions to use instead of the defaults, by column. */
export type UsageValues = Readonly<Record<string, string>>

/** Returns the statement that inserts one call for each row of `from`. */
export function insertUsage(from: string, values: UsageValues): string {
  const all = { ...DEFAULTS, ...values }
  return `insert into usage (${Object.keys(all).join(', ')}) select ${Object.values(all).join(', ')} from ${from}`
}

/** Statement that sums the usage table by day into `usage_daily`. */
export const SUM_DAYS = `
  insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*),
     count(*) filter (where status >= 400), sum(input_tokens), sum(output_tokens), sum(images), sum(cost_micro_vnd),
     sum(charged_micro_vnd), coalesce(sum(upstream_cost_micro_vnd), 0), count(upstream_cost_micro_vnd)
    from usage group by 1, 2, 3, 4 order by 2`

/**
 * Inserts calls to ten models, spread over the last 90 days, with two keys and ten tags. A single call has a third key and an
 * eleventh tag, `rare`. No other account may exist.
 */
export async function fillUsage(sql: Sql, { accountId, calls }: { accountId: number; calls: number }): Promise<void> {
  const account = String(accountId)
  await sql.unsafe(
    `insert into api_key (account_id, key_hash, pepper_id) select $1::text::bigint, sha256(n::text::bytea), 1
    from generate_series(1, 3) n`,
    [account],
  )
  const rows = `(
    select $1::text::bigint as account_id, n, n = $2::text::integer / 3 as is_rare,
           interval '90 days' * (n / $2::text::double precision - 1) as age
      from generate_series(1, $2::text::integer) n) calls`
  const values = {
    key_id: 'case when is_rare then 3 else n % 2 + 1 end',
    tag: `case when is_rare then 'rare' when n % 3 = 0 then 'team-' || n % 10 end`,
  }
  await sql.unsafe(insertUsage(rows, values), [account, String(calls)])
  await sql.unsafe(SUM_DAYS)
  await sql.unsafe('update wallet set seq = $1::text::bigint', [String(calls)])
  await sql.unsafe('analyze')
}
