/** The calls of all accounts as CSV, including what they cost the operator; for operators only. */

import type { AnySql } from '../../lib/database.ts'
import { exportRaw, HEADER } from './csv.ts'
import { checkRange, startOfDay } from './days.ts'
import { REPORT_LIMITS, type ReportLimits } from './limits.ts'
import type { DayRange } from './types.ts'

const ACCOUNTS_PER_PAGE = 1_000
/** Accounts with calls in the period, after account $1. */
const ACCOUNTS = `select distinct account_id from usage_daily
  where account_id > $1::text::bigint and day >= $2::text::date and day < $3::text::date
  order by account_id limit $4::text::integer`

/**
 * Yields the calls account by account, oldest first, in chunks like `exportUsageCsv`; `upstream_cost_vnd` is empty if unknown.
 * Throws RangeError for an impossible period.
 */
export async function* exportOperatorsCsv(
  sql: AnySql,
  range: DayRange,
  limits: ReportLimits = REPORT_LIMITS,
): AsyncGenerator<string> {
  checkRange(range)
  yield `account_id,${HEADER},cache_write_tokens,upstream_cost_vnd,tag\r\n`
  const filter = { from: startOfDay(range.from), to: startOfDay(range.to) }
  for (let after = '0'; ; ) {
    const accounts = await sql.unsafe(ACCOUNTS, [after, range.from, range.to, String(ACCOUNTS_PER_PAGE)])
    for (const { account_id: id } of accounts) {
      const prefix = `${id},`
      yield* exportRaw(sql, { accountId: Number(id), filter, keyLabels: new Map(), prefix, forOperators: true }, limits)
    }
    if (accounts.length < ACCOUNTS_PER_PAGE) return
    after = accounts.at(-1)?.account_id
  }
}
