/**
 * Logs sent emails, so that operators can help people who miss one. Records address, subject and time, never the text, which
 * may contain a secret link.
 */

import type { AnySql, Sql } from '../lib/database.ts'
import type { Mailer } from '../lib/mail.ts'
import { spellEmail } from './accounts.ts'

const INSERT = 'insert into mail_sent (email, subject, failed) values ($1, $2, $3::text::boolean)'
const LIST = `select sent_at, subject, failed from mail_sent where email_key = lower($1)
  order by mail_id desc limit $2::text::integer`
const FORGET = 'delete from mail_sent where email_key = lower($1)'
const SWEEP = 'delete from mail_sent where sent_at < now() - make_interval(secs => $1::text::integer)'
const SUBJECT_CHARACTERS_MAX = 200

export interface SentMail {
  readonly sentAt: Date
  readonly subject: string
  /** True if the mail server did not accept the email. */
  readonly failed: boolean
}

/** Wraps a mailer so that it logs each email. An email is sent even if it cannot be logged. */
export function recordMails(mailer: Mailer, sql: Sql, onFault: (error: unknown) => void): Mailer {
  const record = ({ to, subject }: { to: string; subject: string }, failed: boolean) =>
    sql
      .unsafe(INSERT, [spellEmail(to), subject.slice(0, SUBJECT_CHARACTERS_MAX), String(failed)])
      .then(() => {}, onFault)
  return {
    ...mailer,
    async send(message) {
      try {
        await mailer.send(message)
      } catch (error) {
        await record(message, true)
        throw error
      }
      await record(message, false)
    },
  }
}

/** Newest first. */
export async function listMails(sql: AnySql, email: string, limit: number): Promise<readonly SentMail[]> {
  const rows = await sql.unsafe(LIST, [email, String(limit)])
  return rows.map(row => ({ sentAt: row.sent_at, subject: row.subject, failed: row.failed }))
}

export async function forgetMails(sql: AnySql, email: string): Promise<void> {
  await sql.unsafe(FORGET, [email])
}

export async function sweepMails(sql: AnySql, seconds: number): Promise<void> {
  await sql.unsafe(SWEEP, [String(seconds)])
}
