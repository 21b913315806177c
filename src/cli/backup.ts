/** The CLI commands that back up the database to a file and restore it. */

import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { BackupError } from '../ledger/backup/file.ts'
import { readBackup } from '../ledger/backup/read.ts'
import { writeBackup } from '../ledger/backup/write.ts'
import { UsageError } from './arguments.ts'
import { type Action, auditAll } from './commands.ts'
import { secretsMissing } from './secrets.ts'

const total = (rows: Readonly<Record<string, number>>): number =>
  Object.values(rows).reduce((sum, count) => sum + count, 0)

const backup: Action = async ({ sql }, { words }) => {
  const path = resolve(words[0] as string)
  if (existsSync(path)) throw new UsageError(`${path} already exists; name a new file`)
  const rows = await writeBackup(sql, path, new Date())
  return {
    data: { file: path, rows },
    text: `${total(rows)} rows in ${path}. It does not contain KEY_PEPPERS and KEY_ENCRYPTION_KEYS; keep those elsewhere.`,
  }
}

const restore: Action = async (foundation, command) => {
  const path = resolve(command.words[0] as string)
  let rows: Readonly<Record<string, number>>
  try {
    rows = await readBackup(foundation.sql, path)
  } catch (error) {
    throw error instanceof BackupError ? new UsageError(error.message) : error
  }
  const audit = await auditAll(foundation, command)
  const missing = await secretsMissing(foundation)
  return {
    data: { rows, audit: audit.data, secrets_missing: missing !== null },
    text: [`${total(rows)} rows restored.`, audit.text, ...(missing === null ? [] : [missing])].join('\n'),
    failed: audit.failed === true || missing !== null,
  }
}

export const BACKUP_ACTIONS: Readonly<Record<string, Action>> = { backup, restore }
