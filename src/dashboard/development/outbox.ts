/** Mail that was not sent, newest first, with its links ready to open. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'

export const OUTBOX_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/development/outbox',
    authentication: 'none',
    purpose: 'Mail of development',
    handle: outbox,
  },
]

async function outbox({ options, language }: PageRequest): Promise<Answer> {
  const folder = options.outboxFolder
  if (folder === null) return { kind: 'problem', status: 404 }
  const names = (await readdir(folder).catch(() => [])).filter(name => name.endsWith('.eml'))
  const newest = names.sort().reverse().slice(0, options.limits.outboxMailsMax)
  const mails = await Promise.all(newest.map(async name => readMail(await readFile(join(folder, name), 'utf8'))))
  return {
    kind: 'page',
    template: 'outbox',
    title: text(language, 'outbox.title'),
    data: { mails },
    secret: true,
  }
}

interface Mail {
  readonly to: string
  readonly subject: string
  readonly lines: readonly { readonly text: string; readonly link: string | null }[]
}

/** A plain text mail as our own mailer writes it: one part, base64, quoted-printable or plain. */
export function readMail(source: string): Mail {
  const [head = '', ...rest] = source.replaceAll('\r\n', '\n').split('\n\n')
  const headers = new Map(
    head
      .replace(/\n[ \t]+/g, ' ')
      .split('\n')
      .map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const body = decodeBody(rest.join('\n\n'), headers.get('content-transfer-encoding') ?? '7bit')
  return {
    to: headers.get('to') ?? '',
    subject: decodeWords(headers.get('subject') ?? ''),
    lines: body
      .trim()
      .split('\n')
      .map(line => ({ text: line, link: /^https?:\/\/\S+$/.test(line.trim()) ? localLink(line.trim()) : null })),
  }
}

/** Path and query: the page may be open under another name of this host than the mail says. */
function localLink(link: string): string {
  const { pathname, search } = new URL(link)
  return pathname + search
}

function decodeBody(text: string, encoding: string): string {
  if (encoding === 'base64') return Buffer.from(text, 'base64').toString('utf8')
  return encoding === 'quoted-printable' ? unquote(text.replace(/=\n/g, '')) : text
}

function unquote(text: string): string {
  const bytes = text.replace(/=([0-9A-F]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return /=[0-9A-F]{2}/i.test(text) ? Buffer.from(bytes, 'latin1').toString('utf8') : text
}

/** `=?UTF-8?Q?…?=` and `=?UTF-8?B?…?=`; white space between two of them is none. */
function decodeWords(text: string): string {
  return text
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?utf-8\?([qb])\?(.*?)\?=/gi, (_, coding: string, word: string) =>
      coding.toLowerCase() === 'b' ? Buffer.from(word, 'base64').toString('utf8') : unquote(word.replaceAll('_', ' ')),
    )
}
