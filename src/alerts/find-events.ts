/** Finds the top-ups, keys and sign-ins stored since the previous search. $3: the time to search from, shortly before that. */

import { SQL_KEY_FACTS, SQL_RECORD, sqlVnd } from './record.ts'

const SINCE = '$3::text::timestamptz'

const TOP_UPS = `
with found as (
  select c.account_id, 'topup.credited' as kind, c.reference,
         jsonb_build_object('amount', ${sqlVnd('c.amount_micro_vnd')}, 'balance', ${sqlVnd('c.balance_after_micro_vnd')},
           'order_code', t.order_code, 'bank_reference', t.bank_ref, 'currency', 'VND') as data
    from credit c
    left join bank_txn t on t.bank_txn_id = substring(c.reference from '^bank_txn:([0-9]{1,18})$')::bigint
   where c.kind = 1 and c.at > ${SINCE})${SQL_RECORD}`

/**
 * Alerts operators to a transfer that matches no order. Those who may assign it have role 1 (owner) or 2 (finance), or null,
 * which means an owner from before roles existed.
 */
const UNMATCHED = `
with found as (
  select a.account_id, 'topup.unmatched' as kind, 'bank_txn:' || t.bank_txn_id as reference,
         jsonb_build_object('bank_transaction', t.bank_txn_id, 'amount', t.amount_vnd::text, 'bank_reference', t.bank_ref,
           'currency', 'VND') as data
    from bank_txn t join account a on a.is_operator and coalesce(a.operator_role, 1) in (1, 2) and a.blocked_at is null
   where t.state = 2 and t.state_at > ${SINCE})${SQL_RECORD}`

const KEYS = `
with found as (
  select k.account_id, 'key.created' as kind, 'key ' || k.key_id as reference, jsonb_build_object(${SQL_KEY_FACTS}) as data
    from api_key k where k.created_at > ${SINCE} and not k.playground
  union all
  select k.account_id, 'key.revoked', 'key ' || k.key_id, jsonb_build_object(${SQL_KEY_FACTS})
    from api_key k where k.revoked_at > ${SINCE} and not k.playground)${SQL_RECORD}`

/** The second list: sessions that processes of the previous version have opened. */
const SIGN_INS = `
with sign_ins as (
  select session_id, account_id, device, at from new_device where at > ${SINCE}
  union
  select session_id, account_id, device, created_at from session
   where seen_at > ${SINCE} and created_at > ${SINCE} and new_device),
found as (
  select account_id, 'session.new' as kind, 'session ' || session_id as reference,
         jsonb_build_object('device', device, 'signed_in_at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as data
    from sign_ins)${SQL_RECORD}`

export const FIND_EVENTS: readonly string[] = [TOP_UPS, UNMATCHED, KEYS, SIGN_INS]
