/** A journal of many calls of one account, for benches of reports. */

import type { Sql } from '../src/lib/database.ts'

/**
 * Fills 90 days with calls: ten models, two keys and a third one used once, ten tags and another one used once. The account must
 * be the only one.
 */
export async function fillUsage(sql: Sql, { accountId, calls }: { accountId: number; calls: number }): Promise<void> {
  const account = String(accountId)
  await sql.unsafe(
    `insert into api_key (account_id, key_hash, pepper_id) select $1::text::bigint, sha256(n::text::bytea), 1
    from generate_series(1, 3) n`,
    [account],
  )
  await sql.unsafe(
    `insert into usage (account_id, seq, call_id, key_id, entry_id, endpoint, status, input_tokens, output_tokens,
       cached_input_tokens, reasoning_tokens, images, price_vnd, price_per, cost_micro_vnd, charged_micro_vnd,
       balance_after_micro_vnd, latency_ms, streamed, estimated, opened_at, closed_at, tag)
     select $1::text::bigint, n, gen_random_uuid(), case when n = $2::text::integer / 3 then 3 else n % 2 + 1 end,
            'model-' || n % 10, 1, 200, 1000, 120, 0, 0, 0, 1500, 1, 1680000, 1680000, 0, 34, true, false, t, t,
            case when n = $2::text::integer / 3 then 'rare' when n % 3 = 0 then 'team-' || n % 10 end
       from generate_series(1, $2::text::integer) n
      cross join lateral (select now() - interval '90 days' * (1 - n / $2::text::double precision)) as x(t)`,
    [account, String(calls)],
  )
  await sql.unsafe(
    `insert into usage_daily select account_id, (closed_at at time zone 'Asia/Ho_Chi_Minh')::date, key_id, entry_id, count(*), 0,
       sum(input_tokens), sum(output_tokens), 0, sum(cost_micro_vnd), sum(charged_micro_vnd) from usage group by 1, 2, 3, 4`,
  )
  await sql.unsafe('update wallet set seq = $1::text::bigint', [String(calls)])
  await sql.unsafe('analyze')
}
