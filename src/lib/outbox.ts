/** Reads the emails in an outbox folder for a development page, with just enough MIME for our own plain-text messages. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface OutboxMail {
  readonly file: string
  readonly to: string
  readonly subject: string
  readonly sentAt: Date | null
  readonly text: string
}

const BYTES_MAX = 256 * 1024

/** Reads up to `limit` messages, newest first. Returns none if the folder does not exist. */
export async function readOutbox(
  folder: string,
  { limit = 50 }: { limit?: number } = {},
): Promise<readonly OutboxMail[]> {
  const names = await readdir(folder).catch(() => [])
  const newest = names
    .filter(name => name.endsWith('.eml'))
    .sort()
    .reverse()
    .slice(0, limit)
  return Promise.all(newest.map(async name => readMail(name, await readFile(join(folder, name)))))
}

function readMail(file: string, bytes: Buffer): OutboxMail {
  const [head = '', ...rest] = bytes
    .subarray(0, BYTES_MAX)
    .toString('latin1')
    .split(/\r?\n\r?\n/)
  const headers = new Map<string, string>()
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':')
    if (colon > 0) headers.set(line.slice(0, colon).toLowerCase(), decodeWords(line.slice(colon + 1).trim()))
  }
  const sentAt = new Date(headers.get('date') ?? '')
  return {
    file,
    to: headers.get('to') ?? '',
    subject: headers.get('subject') ?? '',
    sentAt: Number.isNaN(sentAt.getTime()) ? null : sentAt,
    text: decodeBody(rest.join('\n\n'), headers.get('content-transfer-encoding')?.toLowerCase()),
  }
}

function decodeBody(body: string, encoding: string | undefined): string {
  if (encoding === 'base64') return Buffer.from(body, 'base64').toString('utf8')
  if (encoding === 'quoted-printable') return decodeQuoted(body.replace(/=\r?\n/g, ''))
  return Buffer.from(body, 'latin1').toString('utf8')
}

/** Decodes encoded words (RFC 2047). Drops white space between adjacent encoded words. */
function decodeWords(value: string): string {
  return value
    .replace(/(\?=)\s+(=\?)/g, '$1$2')
    .replace(/=\?utf-8\?([bq])\?([^?]*)\?=/gi, (_, kind: string, text: string) => {
      return kind.toLowerCase() === 'b'
        ? Buffer.from(text, 'base64').toString('utf8')
        : decodeQuoted(text.replaceAll('_', ' '))
    })
}

function decodeQuoted(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1').toString('utf8')
}
