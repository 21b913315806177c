/** Suggests who may have made an unmatched transfer, the likeliest first; an operator decides. */

import type { AnySql } from '../lib/database.ts'
import { plainMemo, squeezeMemo } from './memo.ts'
import type { StoredTransaction } from './types.ts'

export interface Suggestion {
  /**
   * `code`: the memo contains this order's code, perhaps with mistakes. `email`: the memo contains the customer's email
   * address. `amount`: the customer has an open order of this amount.
   */
  readonly why: 'code' | 'email' | 'amount'
  readonly accountId: number
  readonly email: string
  readonly orderCode: string | null
  readonly amountVnd: number | null
}

const PER_TRANSFER_MAX = 3
/** Limits on the orders that are searched, newest first. */
const ORDER_DAYS = 60
const ORDERS_MAX = 5_000
/**
 * A code with more mistakes than this is not recognised. Two mistakes leave at least one of the code's three 4-character pieces
 * intact.
 */
const ERRORS_MAX = 2
const PIECE = 4
/** Shorter addresses would occur in too many memos by chance. */
const ADDRESS_CHARACTERS_MIN = 8

const ORDERS = `select o.order_code, o.account_id, o.amount_vnd, a.email,
    o.paid_vnd = 0 and o.cancelled_at is null as waits
  from topup_order o join account a using (account_id)
 where a.deleted_at is null and o.created_at > now() - make_interval(days => ${ORDER_DAYS}) order by o.created_at desc limit ${ORDERS_MAX}`
/**
 * Banks remove `@` and dots from memos, so addresses are compared without them. The index `account_squeezed` has this
 * expression.
 */
const SQUEEZED = "upper(regexp_replace(email, '[^A-Za-z0-9]', '', 'g'))"
/**
 * Finds addresses that occur in memos. For each position in a memo, looks up whether any address begins with the characters
 * there and, if so, tries every length. `limit 1` and `offset 0` make the planner use the index for each lookup, instead of
 * converting every address.
 */
const ADDRESSES = `
with places as materialized (
  select nth, substr(memo, start) as rest
    from unnest($1::text[]) with ordinality as m (memo, nth)
   cross join lateral generate_series(1, length(memo) - ${ADDRESS_CHARACTERS_MIN - 1}) as start
   cross join lateral (select substr(memo, start, ${ADDRESS_CHARACTERS_MIN}) as beginning offset 0) piece
   cross join lateral (
     select from account where ${SQUEEZED} ~>=~ beginning and ${SQUEEZED} ~<~ (beginning || '~') limit 1) begun)
select distinct nth::integer as nth, account_id, email, size
  from places cross join lateral generate_series(${ADDRESS_CHARACTERS_MIN}, length(rest)) as size
 cross join lateral (
   select account_id, email from account where ${SQUEEZED} = left(rest, size) and deleted_at is null offset 0) found
 order by size desc limit 100`

interface Order {
  readonly orderCode: string
  readonly accountId: number
  readonly amountVnd: number
  readonly email: string
  readonly waits: boolean
}

type Transfer = Pick<StoredTransaction, 'bankTxnId' | 'memo' | 'amountVnd'>

/** Returns the suggestions for each transfer, keyed by `bankTxnId`. */
export async function suggestOwners(
  sql: AnySql,
  transfers: readonly Transfer[],
): Promise<ReadonlyMap<number, readonly Suggestion[]>> {
  if (transfers.length === 0) return new Map()
  // Plain memos are only letters and digits, which need no escaping in a Postgres array.
  const memos = transfers.map(({ memo }) => plainMemo(memo))
  const [orders, addresses] = await Promise.all([
    sql.unsafe(ORDERS),
    sql.unsafe(ADDRESSES, [`{${memos.map(memo => `"${memo}"`).join(',')}}`]),
  ])
  const known: readonly Order[] = orders.map(row => ({
    orderCode: row.order_code,
    accountId: Number(row.account_id),
    amountVnd: Number(row.amount_vnd),
    email: row.email,
    waits: row.waits,
  }))
  const codes = indexCodes(known)
  return new Map(
    transfers.map((transfer, index) => {
      const named = addresses
        .filter(row => row.nth === index + 1)
        .map(row => ({ accountId: Number(row.account_id), email: row.email as string }))
      return [transfer.bankTxnId, suggest(transfer, { orders: known, codes }, named)]
    }),
  )
}

/** Maps each 4-character piece of a code to the indexes of the orders whose code has this piece, newest first. */
type CodeIndex = ReadonlyMap<string, readonly number[]>

function indexCodes(orders: readonly Order[]): CodeIndex {
  const index = new Map<string, number[]>()
  for (const [at, { orderCode }] of orders.entries()) {
    for (let start = 0; start < orderCode.length; start += PIECE) {
      const piece = orderCode.slice(start, start + PIECE)
      const known = index.get(piece)
      if (known === undefined) index.set(piece, [at])
      else known.push(at)
    }
  }
  return index
}

/** Returns the orders whose code occurs in the text with at most ERRORS_MAX mistakes, newest first. */
function ordersNear(squeezed: string, { orders, codes }: Known): { order: Order; errors: number }[] {
  const sharing = new Set<number>()
  for (let start = 0; start + PIECE <= squeezed.length; start++) {
    for (const at of codes.get(squeezed.slice(start, start + PIECE)) ?? []) sharing.add(at)
  }
  return [...sharing]
    .sort((one, other) => one - other)
    .map(at => ({ order: orders[at]!, errors: errorsOf(orders[at]!.orderCode, squeezed) }))
    .filter(({ errors }) => errors <= ERRORS_MAX)
}

interface Known {
  readonly orders: readonly Order[]
  readonly codes: CodeIndex
}

function suggest(
  { memo, amountVnd }: Transfer,
  known: Known,
  named: readonly { readonly accountId: number; readonly email: string }[],
): readonly Suggestion[] {
  const { orders } = known
  const byCode = ordersNear(squeezeMemo(memo), known).map(({ order, errors }) => toSuggestion('code', order, errors))
  const byAddress = named.map(({ accountId, email }) => {
    const order = orders.find(each => each.accountId === accountId && each.amountVnd === amountVnd && each.waits)
    const suggestion = { why: 'email', accountId, email, orderCode: order?.orderCode ?? null, amountVnd: null } as const
    return { suggestion, errors: 3 }
  })
  const byAmount = orders
    .filter(order => order.waits && order.amountVnd === amountVnd)
    .map(order => toSuggestion('amount', order, 4))
  const found = new Map<string, Suggestion>()
  for (const { suggestion } of [...byCode, ...byAddress, ...byAmount].sort((a, b) => a.errors - b.errors)) {
    const name = `${suggestion.accountId} ${suggestion.orderCode}`
    if (!found.has(name)) found.set(name, suggestion)
    if (found.size === PER_TRANSFER_MAX) break
  }
  return [...found.values()]
}

function toSuggestion(why: 'code' | 'amount', order: Order, errors: number) {
  const { accountId, email, orderCode, amountVnd } = order
  const suggestion: Suggestion = { why, accountId, email, orderCode, amountVnd }
  return { suggestion, errors }
}

/** Returns the smallest edit distance between the code and any part of the text. */
function errorsOf(code: string, squeezed: string): number {
  let before = Array.from({ length: code.length + 1 }, (_, index) => index)
  let least = code.length
  for (const character of squeezed) {
    const row = [0]
    for (let index = 1; index <= code.length; index++) {
      const same = code[index - 1] === character ? 0 : 1
      row.push(Math.min(before[index - 1]! + same, before[index]! + 1, row[index - 1]! + 1))
    }
    least = Math.min(least, row[code.length]!)
    before = row
  }
  return least
}
