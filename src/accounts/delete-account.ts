/**
 * Deletes an account: erases personal data and keeps the accounting records. Wallet, journal, calls, orders and transfers then
 * refer to the account by number alone. As the law requires, one kind of personal data is kept: the invoice details of each
 * top-up, as they were when it was credited.
 */

import { type MicroVnd, microVnd } from '../lib/money.ts'
import { removeIdentities } from './identities.ts'
import { lockKeys, revokeAllKeys } from './keys.ts'
import { forgetMails } from './mail-log.ts'
import { MAILS } from './mail-texts.ts'
import { CUSTOMER_NAME, recordAction } from './operator-log.ts'
import { dropFactor } from './second-factor.ts'
import { endAllSessions } from './sessions.ts'
import type { PeopleServices, Session, Visitor } from './types.ts'

/** `.invalid` is reserved (RFC 2606), so no email can go there. A new account may use the old address. */
const ERASE = `update account set email = 'deleted-' || account_id || '@deleted.invalid', password_phc = null,
    email_verified_at = null, blocked_at = coalesce(blocked_at, now()), deleted_at = now()
  where account_id = $1::text::bigint and deleted_at is null and not is_operator returning account_id`
const FORGET_TOKENS = 'delete from email_token where account_id = $1::text::bigint or email_key = lower($2)'
const FORGET_ATTEMPTS = 'delete from sign_in_attempt where account_id = $1::text::bigint or lower(email) = lower($2)'
const FORGET_INVOICE = 'delete from invoice_details where account_id = $1::text::bigint'
const FORGET_ALERTS = `
with deliveries as (
  delete from alert_delivery using alert where alert_delivery.alert_id = alert.alert_id and alert.account_id = $1::text::bigint),
alerts as (delete from alert where account_id = $1::text::bigint),
devices as (delete from new_device where account_id = $1::text::bigint),
secrets as (delete from webhook_secret where account_id = $1::text::bigint),
webhooks as (delete from webhook where account_id = $1::text::bigint)
delete from alert_settings where account_id = $1::text::bigint`
const BALANCE = 'select balance_micro_vnd::text as balance from wallet where account_id = $1::text::bigint'

/** The wallet's balance, which nobody can spend once the account is deleted. */
export async function readBalance({ sql }: PeopleServices, accountId: number): Promise<MicroVnd> {
  return microVnd(BigInt((await sql.unsafe(BALANCE, [String(accountId)]))[0]!.balance))
}

/**
 * Deletes the account. The caller must have checked that the request comes from its owner. Calls in flight finish and are
 * charged; later calls with any of its keys are refused. The outcome is `operator` if nothing was deleted because the account
 * is an operator's; its role must be removed first.
 */
export async function deleteAccount(
  services: PeopleServices,
  { language }: Pick<Visitor, 'language'>,
  { accountId, email }: Session,
): Promise<{ outcome: 'deleted' | 'operator' }> {
  const { sql, mailer, serviceName: service, publicUrl } = services
  const account = String(accountId)
  const isErased = await sql.begin(async transaction => {
    await lockKeys(transaction, accountId)
    if ((await transaction.unsafe(ERASE, [account])).length === 0) return false
    await revokeAllKeys(transaction, accountId)
    await endAllSessions(transaction, accountId)
    await transaction.unsafe(FORGET_TOKENS, [account, email])
    await dropFactor(transaction, accountId)
    await removeIdentities(transaction, accountId)
    await transaction.unsafe(FORGET_ATTEMPTS, [account, email])
    await transaction.unsafe(FORGET_INVOICE, [account])
    await transaction.unsafe(FORGET_ALERTS, [account])
    await recordAction(transaction, { by: { accountId, name: CUSTOMER_NAME }, action: 'account.delete', accountId })
    return true
  })
  if (!isErased) return { outcome: 'operator' }
  const mail = MAILS.accountDeleted[language]({ service, publicUrl, accountId })
  await mailer.send({ to: email, ...mail }).catch(services.onMailFailed)
  await forgetMails(sql, email)
  return { outcome: 'deleted' }
}
