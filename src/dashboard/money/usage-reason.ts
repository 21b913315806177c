/** Explains to customers why a call failed, and what to do about it. */

import type { Language } from '../../accounts/types.ts'
import type { UsageRow } from '../../ledger/reports/types.ts'
import { isTextKey, type TextKey, text } from '../texts/index.ts'

type Ended = Pick<UsageRow, 'status' | 'errorCode'>

/** Why the call failed, in a few words; null if it did not fail. */
export function reasonText(language: Language, ended: Ended): string | null {
  const key = keyOf('reason', ended)
  return key === null ? null : text(language, key)
}

/** What the customer can do about the failure; null if the call did not fail. */
export function cureText(language: Language, ended: Ended): string | null {
  const key = keyOf('cure', ended)
  return key === null ? null : text(language, key)
}

/**
 * Returns the text key for a call's error code. Calls without a known code, such as old ones, are explained by their status.
 */
function keyOf(kind: 'reason' | 'cure', { status, errorCode }: Ended): TextKey | null {
  if (status < 400) return null
  const code = status === 499 ? 'client_gone' : (errorCode ?? '')
  const key = `usage.${kind}.${code}`
  if (isTextKey(key)) return key
  if (status >= 500) return `usage.${kind}.upstream_failed`
  if (status === 402) return `usage.${kind}.insufficient_balance`
  return status === 429 ? `usage.${kind}.rate_limited` : `usage.${kind}.invalid_request`
}
