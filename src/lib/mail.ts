/** Sends email, by SMTP or, when there is no mail server, as .eml files in a folder. */

import { mkdirSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defer } from './deferred.ts'
import type { PlainFault } from './fault-text.ts'
import { uuidv7 } from './ids.ts'

export interface MailMessage {
  readonly to: string
  readonly subject: string
  readonly text: string
  /** URL for one-click unsubscribe: mail programs POST to it without opening a page (RFC 8058). */
  readonly unsubscribeUrl?: string
}

export interface Mailer {
  /** Resolves when the mail server or the folder has accepted the message, and rejects when it has not. */
  send(message: MailMessage): Promise<void>
  close(): void
}

export interface SmtpOptions {
  /** Address of the mail server: `smtp://user:password@host:587` or `smtps://…`. */
  readonly url: string
  /** Sender, as in `Name <name@example.com>`. */
  readonly from: string
  /** Timeout for connecting and for each reply of the mail server, in ms. */
  readonly timeoutMs?: number
  /**
   * Longest time for a message in all, in ms: waiting for a connection, and a server that trickles its replies, which no other
   * timeout notices.
   */
  readonly sendMs?: number
  readonly connectionsMax?: number
}

interface Transport<Open> {
  open(): Promise<Open>
  close(): void
}

/**
 * Loads the mail library shortly after start-up, so that start-up does not wait for it. It is not loaded any later, because an
 * upgrade may have replaced its files by then.
 */
function whenFirstUsed<Open extends { close(): void }>(
  create: (mailers: typeof import('nodemailer')) => Open,
): Transport<Open> {
  let opening: Promise<Open> | undefined
  const open = () => {
    opening ??= import('nodemailer').then(create)
    return opening
  }
  // If loading fails, sending the first message rejects with the error.
  const cancel = defer(() => void open().catch(() => {}))
  return {
    open,
    close() {
      cancel()
      void opening?.then(transport => transport.close())
    },
  }
}

/** Must be less than `claimSeconds` of the alerts, or another process would send a slow email as well. */
export const MAIL_SEND_MS = 60_000

export function createSmtpMailer(options: SmtpOptions): Mailer {
  const { url, from, timeoutMs = 10_000, sendMs = MAIL_SEND_MS, connectionsMax = 4 } = options
  const server = new URL(url)
  const settings = {
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port === '' ? (server.protocol === 'smtps:' ? 465 : 587) : Number(server.port),
    secure: server.protocol === 'smtps:',
    ...(server.username === ''
      ? {}
      : { auth: { user: decodeURIComponent(server.username), pass: decodeURIComponent(server.password) } }),
    pool: true,
    maxConnections: connectionsMax,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  } as const
  const transport = whenFirstUsed(({ createTransport }) => createTransport(settings))
  return {
    async send(message) {
      const smtp = await transport.open()
      await smtp.sendMail({ ...partsOf(message), from, signal: AbortSignal.timeout(sendMs) }).catch(nameAnswer)
    },
    close: () => transport.close(),
  }
}

/** A refusal by the mail server. Of its answer, only the code is kept: the text may quote the address or the email. */
class RefusedMailError extends Error implements PlainFault {
  readonly mayBeLogged = true
}

function nameAnswer(cause: unknown): never {
  const code = cause instanceof Error && 'responseCode' in cause ? cause.responseCode : undefined
  throw typeof code === 'number' ? new RefusedMailError(`the mail server answered ${code}`, { cause }) : cause
}

/**
 * Passes the recipient as one address, whatever it contains; a plain string would be parsed as a list with names and comments.
 */
function partsOf({ to, subject, text, unsubscribeUrl }: MailMessage) {
  const parts = { to: { name: '', address: to }, subject, text }
  if (unsubscribeUrl === undefined) return parts
  // `prepared` keeps the library from folding or encoding the URL, which mail programs would then not recognise.
  const list = { prepared: true, value: `<${unsubscribeUrl}>` }
  return { ...parts, headers: { 'List-Unsubscribe': list, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' } }
}

/** For development: writes each message to its own file in `folder`. The file names begin with the time. */
export function createOutboxMailer({ folder, from }: { folder: string; from: string }): Mailer {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const transport = whenFirstUsed(({ createTransport }) =>
    createTransport({ streamTransport: true, buffer: true, newline: 'unix' }),
  )
  return {
    async send(message) {
      const writer = await transport.open()
      const { message: bytes } = await writer.sendMail({ ...partsOf(message), from })
      await writeFile(join(folder, `${uuidv7()}.eml`), bytes as Buffer, { mode: 0o600, flag: 'wx' })
    },
    close: () => transport.close(),
  }
}

export interface MailMetrics {
  /** Number of messages being sent. */
  readonly waiting: number
  readonly sent: number
  readonly failed: number
}

/** Wraps a mailer to count its outcomes. */
export function countMails(mailer: Mailer): Mailer & { metrics(): MailMetrics } {
  const counts = { waiting: 0, sent: 0, failed: 0 }
  return {
    async send(message) {
      counts.waiting++
      try {
        await mailer.send(message)
        counts.sent++
      } catch (error) {
        counts.failed++
        throw error
      } finally {
        counts.waiting--
      }
    },
    close: () => mailer.close(),
    metrics: () => ({ ...counts }),
  }
}
