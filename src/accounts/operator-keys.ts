/** Lets operators change the limits of a customer's key or revoke it. Each action is recorded in the operator log. */

import type { Sql } from '../lib/database.ts'
import { limitConcurrencyIn, limitKeyIn } from './key-rate.ts'
import type { KeyRow } from './key-secret.ts'
import { setKeyCap } from './key-settings.ts'
import { lockKeys, revokeKey } from './keys.ts'
import { type Actor, recordAction } from './operator-log.ts'
import { readOwnKey } from './own-keys.ts'

interface Deed {
  readonly by: Actor
  readonly reason: string
}

/**
 * For `callsPerMinute` and `callsInFlight`, null means the catalogue's limit and 0 no limit; for `capVnd`, null means no cap.
 * Undefined: as it is.
 */
export interface KeyLimits {
  readonly callsPerMinute: number | null | undefined
  readonly callsInFlight: number | null | undefined
  /**
   * Spending cap in whole dong, from 1 to KEY_CAP_VND_MAX. The key's owner chooses its period, and can change the cap, too.
   */
  readonly capVnd: number | null | undefined
}

/**
 * Changes only the limits that differ. `unchanged`: the key already has all of these limits, as when a form is submitted twice.
 * `gone`: there is no such active key.
 */
export function changeKeyLimits(
  sql: Sql,
  key: KeyRow & Deed,
  wanted: KeyLimits,
): Promise<'changed' | 'unchanged' | 'gone'> {
  const { accountId, keyId, by, reason } = key
  return sql.begin(async transaction => {
    await lockKeys(transaction, accountId)
    const found = await readOwnKey(transaction, key)
    if (found === null || found.revokedAt !== null) return 'gone'
    const capBefore = found.limitMicroVnd === null ? null : Number(found.limitMicroVnd / 1_000_000n)
    const rateBefore = found.rateHeld ? found.rateLimitPerMinute : null
    let changed = false
    if (wanted.callsPerMinute !== undefined && wanted.callsPerMinute !== rateBefore) {
      changed = await limitKeyIn(transaction, key, wanted.callsPerMinute)
    }
    const flightBefore = found.concurrencyHeld ? found.concurrencyMax : null
    if (wanted.callsInFlight !== undefined && wanted.callsInFlight !== flightBefore) {
      changed = (await limitConcurrencyIn(transaction, key, wanted.callsInFlight)) || changed
    }
    if (wanted.capVnd !== undefined && wanted.capVnd !== capBefore) {
      await setKeyCap(transaction, { accountId, keyId, capVnd: wanted.capVnd })
      const subject = `${keyId}: ${wanted.capVnd === null ? 'none' : `${wanted.capVnd} VND`}`
      await recordAction(transaction, { by, action: 'key.cap', accountId, subject, reason })
      changed = true
    }
    return changed ? 'changed' : 'unchanged'
  })
}

/** Revokes a customer's key. False if there is no such active key. */
export function revokeCustomerKey(sql: Sql, { accountId, keyId, by, reason }: KeyRow & Deed): Promise<boolean> {
  return sql.begin(async transaction => {
    if (!(await revokeKey(transaction, { accountId, keyId }))) return false
    await recordAction(transaction, { by, action: 'key.revoke', accountId, subject: String(keyId), reason })
    return true
  })
}
