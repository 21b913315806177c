/** Books top-ups, refunds and adjustments, which are all changes of a balance other than charges for calls. */

import { CREDIT_KINDS, type CreditKind } from '../lib/credit-kinds.ts'
import type { AnySql, Sql } from '../lib/database.ts'
import { faultCode } from '../lib/database.ts'
import { type MicroVnd, microVnd } from '../lib/money.ts'

export interface CreditRequest {
  readonly accountId: number
  /** Not 0. A negative amount takes money back and must not exceed the balance. */
  readonly amountMicroVnd: MicroVnd
  readonly kind: CreditKind
  /** Identifies the cause: an account gets only one credit with the same kind and reference. */
  readonly reference: string
  readonly note?: string | null
}

export interface CreditAnswer {
  /** `already`: this reference was booked before, and the other fields describe that booking. */
  readonly outcome: 'credited' | 'already'
  readonly amountMicroVnd: MicroVnd
  readonly note: string | null
  readonly seq: number
  readonly balanceAfterMicroVnd: MicroVnd
}

/** The reference was booked before with a different amount. */
export class ReusedReferenceError extends RangeError {}

/** The owner has deleted the account, so nobody could spend the money. */
export class ClosedAccountError extends RangeError {}

const AMOUNT_MAX = 10n ** 18n
const LOCK = 'select account_id from wallet where account_id = $1::text::bigint for no key update'
const FIND = `select amount_micro_vnd, note, seq, balance_after_micro_vnd from credit
  where account_id = $1::text::bigint and kind = $2::text::smallint and reference = $3`
const CLOSED = 'select from account where account_id = $1::text::bigint and deleted_at is not null'
const BOOK = `
with upd as (
  update wallet set balance_micro_vnd = wallet.balance_micro_vnd + $2::text::bigint, seq = wallet.seq + 1
   where account_id = $1::text::bigint
  returning account_id, seq, balance_micro_vnd)
insert into credit (account_id, seq, amount_micro_vnd, kind, reference, balance_after_micro_vnd, note)
select account_id, seq, $2::text::bigint, $3::text::smallint, $4, balance_micro_vnd, $5 from upd
returning amount_micro_vnd, note, seq, balance_after_micro_vnd`

/**
 * Books a credit once per account, kind and reference; within the caller's transaction if `sql` is one. Throws an Error that says
 * what is wrong: there is no such account, its owner has deleted it and the amount is positive (ClosedAccountError), the reference
 * has been used for another amount (ReusedReferenceError), or the debit exceeds the balance.
 */
export async function credit(sql: Sql | AnySql, request: CreditRequest): Promise<CreditAnswer> {
  if (request.amountMicroVnd === 0n) throw new RangeError('a credit cannot be 0')
  if (request.amountMicroVnd > AMOUNT_MAX || request.amountMicroVnd < -AMOUNT_MAX) {
    throw new RangeError('a credit must not exceed 1 000 000 000 000 VND')
  }
  if (request.reference === '') throw new RangeError('a credit needs a reference')
  try {
    if ('begin' in sql) return await sql.begin(transaction => book(transaction, request))
    return await book(sql, request)
  } catch (error) {
    if (faultCode(error) !== '23514') throw error
    throw new RangeError(`account ${request.accountId} has less than the amount to be taken`, { cause: error })
  }
}

/**
 * Locks the wallet first, so that FIND also sees a duplicate which another transaction has just committed, and CLOSED a deletion.
 */
async function book(sql: AnySql, request: CreditRequest): Promise<CreditAnswer> {
  const account = String(request.accountId)
  const kind = String(CREDIT_KINDS[request.kind])
  const amount = String(request.amountMicroVnd)
  const wallet = await sql.unsafe(LOCK, [account])
  if (wallet.length === 0) throw new RangeError(`there is no account ${account}`)
  const earlier = (await sql.unsafe(FIND, [account, kind, request.reference]))[0]
  if (earlier !== undefined) {
    const answer = readAnswer(earlier, 'already')
    if (answer.amountMicroVnd === request.amountMicroVnd) return answer
    const message = `the reference ${request.reference} was booked on account ${account} with a different amount`
    throw new ReusedReferenceError(message)
  }
  if (request.amountMicroVnd > 0n && (await sql.unsafe(CLOSED, [account])).length > 0) {
    throw new ClosedAccountError(`the owner of account ${account} has deleted it`)
  }
  const booked = await sql.unsafe(BOOK, [account, amount, kind, request.reference, request.note ?? null])
  return readAnswer(booked[0]!, 'credited')
}

function readAnswer(row: Readonly<Record<string, string | null>>, outcome: CreditAnswer['outcome']): CreditAnswer {
  return {
    outcome,
    amountMicroVnd: microVnd(BigInt(row.amount_micro_vnd!)),
    note: row.note ?? null,
    seq: Number(row.seq),
    balanceAfterMicroVnd: microVnd(BigInt(row.balance_after_micro_vnd!)),
  }
}
