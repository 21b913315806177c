/** How much money an account has left, and how long it will last at the current rate. */

import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd, ZERO_MICRO_VND } from '../../lib/money.ts'

export interface BalanceReport {
  readonly balanceMicroVnd: MicroVnd
  /** The amount set aside for calls in flight; part of the balance. */
  readonly heldMicroVnd: MicroVnd
  /** Average charge per day over the last seven days, or since the first call if that was later. */
  readonly dailyMicroVnd: MicroVnd
  /**
   * Whole days that the balance will last at this rate. A number above `DAYS_LEFT_MAX` stands for any longer time; null if nothing
   * was spent.
   */
  readonly daysLeft: number | null
}

/** Further ahead, spending cannot be foretold. */
export const DAYS_LEFT_MAX = 365

/**
 * Today counts as the fraction of the day that has passed, but as at least one hour, so that the rate is not extrapolated from
 * a few minutes.
 */
const READ = `
with today as (
  select (now() at time zone 'Asia/Ho_Chi_Minh')::date as day,
         greatest(1, extract(hour from now() at time zone 'Asia/Ho_Chi_Minh')) / 24.0 as passed),
spent as (
  select sum(d.charged_micro_vnd) as charged, min(d.day) as first
    from usage_daily d, today where d.account_id = $1::text::bigint and d.day >= today.day - 6)
select w.balance_micro_vnd, w.held_micro_vnd,
       coalesce(round(spent.charged / ((today.day - spent.first) + today.passed)), 0)::text as daily
  from wallet w cross join today cross join spent where w.account_id = $1::text::bigint`

/** Null if the account is unknown. */
export async function readBalance(sql: AnySql, accountId: number): Promise<BalanceReport | null> {
  const row = (await sql.unsafe(READ, [String(accountId)]))[0]
  if (row === undefined) return null
  const balanceMicroVnd = microVnd(BigInt(row.balance_micro_vnd))
  const dailyMicroVnd = microVnd(BigInt(row.daily))
  const days = dailyMicroVnd > ZERO_MICRO_VND ? Number(balanceMicroVnd / dailyMicroVnd) : null
  return {
    balanceMicroVnd,
    heldMicroVnd: microVnd(BigInt(row.held_micro_vnd)),
    dailyMicroVnd,
    daysLeft: days === null ? null : Math.min(days, DAYS_LEFT_MAX + 1),
  }
}
