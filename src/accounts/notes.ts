/** Operators' notes about a customer, kept in the operator log so that nobody can change them afterwards. */

import type { Sql } from '../lib/database.ts'
import { lockKeys } from './keys.ts'
import { type Actor, listActions, type OperatorAction, recordAction } from './operator-log.ts'

const ACTION = 'note.add'
const TWIN = `select action_id from operator_action where account_id = $1::text::bigint and action = '${ACTION}' and subject = $2`

/** Adds a note. `submission` identifies the form, so that submitting it twice, even concurrently, adds only one note. */
export function addNote(
  sql: Sql,
  given: { readonly accountId: number; readonly by: Actor; readonly note: string; readonly submission: string },
): Promise<void> {
  const { accountId, by, note, submission } = given
  return sql.begin(async transaction => {
    await lockKeys(transaction, accountId)
    if ((await transaction.unsafe(TWIN, [String(accountId), submission])).length > 0) return
    await recordAction(transaction, { by, action: ACTION, accountId, subject: submission, reason: note })
  })
}

/** Newest first. */
export function listNotes(sql: Sql, accountId: number, limit: number): Promise<readonly OperatorAction[]> {
  return listActions(sql, { accountId, action: ACTION, limit })
}
