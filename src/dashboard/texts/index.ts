/** Combines all texts into one table. */

import type { Language } from '../../accounts/types.ts'
import { ACCOUNT_TEXTS } from './account.ts'
import { ACCOUNT_CHANGE_TEXTS } from './account-change.ts'
import { ALERT_TEXTS } from './alerts.ts'
import { COMMON_TEXTS } from './common.ts'
import { CUSTOMER_TEXTS } from './customer.ts'
import { DUTY_TEXTS } from './duties.ts'
import { KEY_TEXTS } from './keys.ts'
import { MODEL_TEXTS } from './models.ts'
import { OPERATOR_TEXTS } from './operator.ts'
import { OPERATOR_BUSINESS_TEXTS } from './operator-business.ts'
import { OPERATOR_CALL_TEXTS } from './operator-calls.ts'
import { OPERATOR_HOME_TEXTS } from './operator-home.ts'
import { OPERATOR_UPSTREAM_TEXTS } from './operator-upstreams.ts'
import { PASSKEY_TEXTS } from './passkeys.ts'
import { PLAYGROUND_TEXTS } from './playground.ts'
import { PUBLIC_TEXTS } from './public.ts'
import { QUICK_START_TEXTS } from './quick-start.ts'
import { SECOND_FACTOR_TEXTS } from './second-factor.ts'
import { SIGN_INS_TEXTS } from './sign-ins.ts'
import { TOP_UP_TEXTS } from './top-up.ts'
import { TRANSFER_TEXTS } from './transfers.ts'
import type { Texts } from './type.ts'
import { USAGE_TEXTS } from './usage.ts'
import { USAGE_CALL_TEXTS } from './usage-call.ts'
import { USAGE_REASON_TEXTS } from './usage-reasons.ts'

export const TEXTS = {
  ...COMMON_TEXTS,
  ...PUBLIC_TEXTS,
  ...MODEL_TEXTS,
  ...QUICK_START_TEXTS,
  ...ACCOUNT_TEXTS,
  ...ACCOUNT_CHANGE_TEXTS,
  ...SIGN_INS_TEXTS,
  ...ALERT_TEXTS,
  ...KEY_TEXTS,
  ...TOP_UP_TEXTS,
  ...USAGE_TEXTS,
  ...PLAYGROUND_TEXTS,
  ...USAGE_CALL_TEXTS,
  ...USAGE_REASON_TEXTS,
  ...OPERATOR_TEXTS,
  ...PASSKEY_TEXTS,
  ...SECOND_FACTOR_TEXTS,
  ...OPERATOR_HOME_TEXTS,
  ...OPERATOR_CALL_TEXTS,
  ...CUSTOMER_TEXTS,
  ...TRANSFER_TEXTS,
  ...OPERATOR_BUSINESS_TEXTS,
  ...OPERATOR_UPSTREAM_TEXTS,
  ...DUTY_TEXTS,
} as const satisfies Texts

export type TextKey = keyof typeof TEXTS

export function isTextKey(key: string): key is TextKey {
  return Object.hasOwn(TEXTS, key)
}

/**
 * A text with its values inserted: `{count} {count:call|calls}` is `1 call` or `2 calls`. Throws RangeError if a value is
 * missing.
 */
export function text(language: Language, key: TextKey, values: Readonly<Record<string, unknown>> = {}): string {
  return TEXTS[key][language].replace(
    /\{(\w+)(?::([^|}]+)\|([^}]+))?\}/g,
    (_, name: string, one?: string, many?: string) => {
      if (!(name in values)) throw new RangeError(`the text ${key} needs ${name}`)
      const value = String(values[name])
      return (value === '1' ? one : many) ?? value
    },
  )
}
