/** Reports over all accounts, for operators. */

import { type CreditKind, creditKindOf } from '../../lib/credit-kinds.ts'
import type { AnySql } from '../../lib/database.ts'
import { type MicroVnd, microVnd } from '../../lib/money.ts'
import { CREDIT_DAYS } from '../day-totals.ts'
import { checkRange } from './days.ts'
import type { Day, DayRange } from './types.ts'

const INCOME = `select to_char(day, 'YYYY-MM-DD') as day, kind, credits::integer, amount_micro_vnd::text as amount
  from ${CREDIT_DAYS} order by days.day, kind`

export interface IncomeFigure {
  readonly day: Day
  readonly kind: CreditKind
  readonly credits: number
  readonly amountMicroVnd: MicroVnd
}

/** Returns a figure for each day and kind of credit, sorted by day, then by kind. Throws RangeError for an invalid period. */
export async function readIncome(sql: AnySql, range: DayRange): Promise<readonly IncomeFigure[]> {
  checkRange(range)
  const rows = await sql.unsafe(INCOME, [range.from, range.to])
  return rows.map(row => ({
    day: row.day,
    kind: creditKindOf(row.kind),
    credits: row.credits,
    amountMicroVnd: microVnd(BigInt(row.amount)),
  }))
}
