/** A development-only page that lists unsent emails, newest first, with clickable links. */

import { type OutboxMail, readOutbox } from '../../lib/outbox.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'

export const OUTBOX_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/development/outbox',
    authentication: 'development',
    purpose: 'Mail of development',
    handle: outbox,
  },
]

async function outbox({ options, language }: PageRequest): Promise<Answer> {
  if (options.outboxFolder === null) return NOT_FOUND
  const mails = await readOutbox(options.outboxFolder, { limit: options.limits.outboxMailsMax })
  return {
    kind: 'page',
    template: 'outbox',
    title: text(language, 'outbox.title'),
    data: { mails: mails.map(mailView) },
    secret: true,
  }
}

function mailView({ to, subject, text: body }: OutboxMail) {
  const lines = body
    .trim()
    .split('\n')
    .map(line => line.trim())
  return { to, subject, lines: lines.map(line => ({ text: line, link: localLink(line) })) }
}

/** Returns the path and query if the line is a link. The host is left out, because this page may be open under another host. */
function localLink(line: string): string | null {
  if (!/^https?:\/\/\S+$/.test(line) || !URL.canParse(line)) return null
  const { pathname, search } = new URL(line)
  return pathname + search
}
