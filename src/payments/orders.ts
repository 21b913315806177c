/** Top-up orders: an amount a customer wants to pay, under a code that identifies the payment. */

import { escapeLike, type Sql } from '../lib/database.ts'
import { isOrderCode, makeOrderCode } from './order-code.ts'
import type { OrderState, PaymentServices, TopUpOrder } from './types.ts'

/** The state of an order. Only `paid` is final: if money still arrives for a cancelled or expired order, it becomes `paid`. */
const STATE = `case when paid_vnd > 0 then 'paid' when cancelled_at is not null then 'cancelled'
  when expires_at <= now() then 'expired' else 'open' end`
const COLUMNS = `order_code, account_id, amount_vnd, created_at, expires_at, cancelled_at, paid_vnd, first_paid_at, ${STATE} as state`
const IS_OPEN = 'paid_vnd = 0 and cancelled_at is null and expires_at > now()'
/** Orders are created one at a time per account, so that a form submitted twice gets the same order both times. */
const LOCK = `select pg_advisory_xact_lock(hashtextextended('topup_order|' || $1, 0))`
/** Reuses an order only if at least half its time is left, so that nobody gets a code that is about to expire. */
const SAME = `select ${COLUMNS} from topup_order
  where account_id = $1::text::bigint and amount_vnd = $2::text::bigint and ${IS_OPEN}
    and expires_at - now() > (expires_at - created_at) / 2
  order by created_at desc limit 1`
const COUNT = `select count(*) filter (where ${IS_OPEN})::integer as open,
    count(*) filter (where created_at > now() - interval '1 day' and paid_vnd = 0)::integer as unpaid
  from topup_order where account_id = $1::text::bigint`
const INSERT = `insert into topup_order (order_code, account_id, amount_vnd, expires_at)
  values ($1, $2::text::bigint, $3::text::bigint, now() + make_interval(secs => $4::text::integer))
  on conflict (order_code) do nothing returning ${COLUMNS}`
const READ = `select ${COLUMNS} from topup_order where order_code = $1 and account_id = $2::text::bigint`
const CANCEL = `update topup_order set cancelled_at = now()
  where order_code = $1 and account_id = $2::text::bigint and ${IS_OPEN} returning order_code`
/** The next page continues after an order rather than a time, because two orders may have the same time. */
const LIST = `select ${COLUMNS} from topup_order
  where account_id = $1::text::bigint and ($2::text is null or (created_at, order_code) < (
    select created_at, order_code from topup_order where order_code = $2 and account_id = $1::text::bigint))
  order by created_at desc, order_code desc limit $3::text::integer`
const NEWEST_OF_ALL = 'order by created_at desc, order_code desc limit $2::text::integer'
const AFTER =
  '($1::text is null or (created_at, order_code) < (select created_at, order_code from topup_order where order_code = $1))'
const WITH_EMAIL = `select ${COLUMNS}, (select email from account where account.account_id = listed.account_id) as email`
const IN_STATE = {
  any: 'true',
  open: IS_OPEN,
  paid: 'paid_vnd > 0',
  cancelled: 'paid_vnd = 0 and cancelled_at is not null',
  expired: 'paid_vnd = 0 and cancelled_at is null and expires_at <= now()',
} as const satisfies Readonly<Record<OrderState | 'any', string>>
/**
 * The statement that lists the orders in each state. Open orders are few and recent, so they are found by their expiry and then
 * sorted. `offset 0` keeps the planner from scanning all orders from the newest to the oldest instead.
 */
const LIST_ALL = new Map(
  Object.entries(IN_STATE).map(([state, inState]) => [
    state,
    `${WITH_EMAIL} from (select * from topup_order where ${inState} ${state === 'open' ? 'offset 0' : ''}) listed
      where ${AFTER} ${NEWEST_OF_ALL}`,
  ]),
)
/** The statement that searches the orders in each state. $3 is the search text; in $4, the wildcards of `like` are escaped. */
const SEARCH_ALL = new Map(
  Object.entries(IN_STATE).map(([state, inState]) => [
    state,
    `${WITH_EMAIL} from (
      (select * from topup_order where account_id = (select account_id from account where email_key = lower($3))
          and ${inState} and ${AFTER} ${NEWEST_OF_ALL})
       union all
      (select * from topup_order where order_code like upper($4) || '%' escape '\\'
          and ${inState} and ${AFTER} ${NEWEST_OF_ALL})) listed ${NEWEST_OF_ALL}`,
  ]),
)

const TRIES_MAX = 5
const LIST_MAX = 200

export type CreatedOrder =
  | { readonly outcome: 'created'; readonly order: TopUpOrder }
  | { readonly outcome: 'out_of_range'; readonly minVnd: number; readonly maxVnd: number }
  | { readonly outcome: 'too_many_open' | 'too_many_unpaid' | 'not_configured' }

/** Creates an order of `amountVnd` whole dong, or returns the open one of the same amount. */
export async function createOrder(
  { sql, bank, limits }: PaymentServices,
  { accountId, amountVnd }: { accountId: number; amountVnd: number },
): Promise<CreatedOrder> {
  if (bank === null) return { outcome: 'not_configured' }
  const { orderVndMin: minVnd, orderVndMax: maxVnd } = limits
  if (!Number.isSafeInteger(amountVnd) || amountVnd < minVnd || amountVnd > maxVnd) {
    return { outcome: 'out_of_range', minVnd, maxVnd }
  }
  const [account, amount] = [String(accountId), String(amountVnd)]
  return sql.begin(async (transaction): Promise<CreatedOrder> => {
    await transaction.unsafe(LOCK, [account])
    const same = (await transaction.unsafe(SAME, [account, amount]))[0]
    if (same !== undefined) return { outcome: 'created', order: toOrder(same) }
    const { open, unpaid } = (await transaction.unsafe(COUNT, [account]))[0]!
    if (open >= limits.openOrdersMax) return { outcome: 'too_many_open' }
    if (unpaid >= limits.unpaidOrdersPerDayMax) return { outcome: 'too_many_unpaid' }
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const parameters = [makeOrderCode(), account, amount, String(limits.orderSeconds)]
      const row = (await transaction.unsafe(INSERT, parameters))[0]
      if (row !== undefined) return { outcome: 'created', order: toOrder(row) }
    }
    throw new Error('could not find an unused order code')
  })
}

interface OrderId {
  readonly accountId: number
  readonly orderCode: string
}

/** Reads one order of an account. Returns null if the account has no such order. */
export async function readOrder(
  { sql }: Pick<PaymentServices, 'sql'>,
  { accountId, orderCode }: OrderId,
): Promise<TopUpOrder | null> {
  if (!isOrderCode(orderCode)) return null
  const row = (await sql.unsafe(READ, [orderCode, String(accountId)]))[0]
  return row === undefined ? null : toOrder(row)
}

/** Cancels an order. Returns true if it was open. Money that still arrives for it is credited. */
export async function cancelOrder(
  { sql }: Pick<PaymentServices, 'sql'>,
  { accountId, orderCode }: OrderId,
): Promise<boolean> {
  if (!isOrderCode(orderCode)) return false
  return (await sql.unsafe(CANCEL, [orderCode, String(accountId)])).length > 0
}

/** Lists an account's orders, newest first. */
export async function listOrders(
  { sql }: { sql: Sql },
  accountId: number,
  { beforeCode, limit = 50 }: { beforeCode?: string; limit?: number } = {},
): Promise<readonly TopUpOrder[]> {
  const page = [beforeCode ?? null, String(Math.min(limit, LIST_MAX))]
  return (await sql.unsafe(LIST, [String(accountId), ...page])).map(toOrder)
}

export interface ListedOrder extends TopUpOrder {
  readonly email: string
}

/** Orders of all accounts, newest first. `text` is an order code or its beginning, or a whole email address. */
export async function listAllOrders(
  { sql }: { sql: Sql },
  given: { state?: OrderState; text?: string; beforeCode?: string; limit?: number } = {},
): Promise<readonly ListedOrder[]> {
  const { state = null, beforeCode = null, limit = 50 } = given
  const text = given.text?.toWellFormed().replaceAll('\0', '').trim() || null
  const page = [beforeCode, String(Math.min(limit, LIST_MAX))]
  const rows = await (text === null
    ? sql.unsafe(LIST_ALL.get(state ?? 'any') as string, page)
    : sql.unsafe(SEARCH_ALL.get(state ?? 'any') as string, [...page, text, escapeLike(text)]))
  return rows.map(row => ({ ...toOrder(row), email: row.email }))
}

interface Row {
  readonly order_code: string
  readonly account_id: string
  readonly amount_vnd: string
  readonly created_at: Date
  readonly expires_at: Date
  readonly cancelled_at: Date | null
  readonly paid_vnd: string
  readonly first_paid_at: Date | null
  readonly state: OrderState
}

function toOrder(row: unknown): TopUpOrder {
  const from = row as Row
  return {
    orderCode: from.order_code,
    accountId: Number(from.account_id),
    amountVnd: Number(from.amount_vnd),
    state: from.state,
    createdAt: from.created_at,
    expiresAt: from.expires_at,
    cancelledAt: from.cancelled_at,
    paidVnd: Number(from.paid_vnd),
    firstPaidAt: from.first_paid_at,
  }
}
