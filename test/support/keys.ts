/** Settings of keys for tests. */

import type { KeySettings } from '../../src/accounts/key-settings.ts'

/** Settings without any limit. */
export const UNLIMITED: KeySettings = {
  label: 'laptop',
  limitVnd: null,
  limitReset: 'monthly',
  expiresAt: null,
  allowedModels: null,
  callsPerMinute: null,
  callsInFlight: null,
}
