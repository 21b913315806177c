/** Every command except `serve`, by name. */

import { BACKUP_ACTIONS } from './backup.ts'
import { type Action, BASIC_ACTIONS } from './commands.ts'
import { KEY_ACTIONS } from './keys.ts'
import { OPERATIONS_ACTIONS } from './operations.ts'
import { PAYMENT_ACTIONS } from './payments.ts'
import { SECRETS_ACTIONS } from './secrets.ts'
import { USAGE_ACTIONS } from './usage.ts'

export const ACTIONS: Readonly<Record<string, Action>> = {
  ...BASIC_ACTIONS,
  ...KEY_ACTIONS,
  ...OPERATIONS_ACTIONS,
  ...PAYMENT_ACTIONS,
  ...SECRETS_ACTIONS,
  ...BACKUP_ACTIONS,
  ...USAGE_ACTIONS,
}
