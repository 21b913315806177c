/** Formats entries of the operators' log for display. */

import { COMMAND_LINE, CUSTOMER_NAME, type OperatorAction } from '../../accounts/operator-log.ts'
import { isRole } from '../../accounts/roles.ts'
import { microVnd } from '../../lib/money.ts'
import { AUTOMATIC } from '../../payments/judge.ts'
import type { PageRequest } from '../page.ts'
import { isTextKey, type TextKey, text } from '../texts/index.ts'
import { dongOfMicro, time } from '../view/format.ts'

export function actionView({ language }: Pick<PageRequest, 'language'>, entry: OperatorAction) {
  return {
    ...entry,
    what: describe(language, entry.action),
    subject: subjectInWords(language, entry),
    by: { ...entry.by, name: actorInWords(language, entry.by.name) },
  }
}

const ACTOR_KEYS: Readonly<Record<string, TextKey>> = {
  [COMMAND_LINE.name]: 'operator.log.command_line',
  [CUSTOMER_NAME]: 'operator.log.customer',
  [AUTOMATIC]: 'operator.log.automatic',
}

/** Returns the operator's email address, or a translated label for any other actor, such as the command line. */
export function actorInWords(language: PageRequest['language'], name: string): string {
  const key = ACTOR_KEYS[name]
  return key === undefined ? name : text(language, key)
}

/** Describes the action. Returns its code if there is no text for it, because a newer version logged it. */
export function describe(language: PageRequest['language'], action: string): string {
  const key = `operator.action.${action.replaceAll('.', '_')}`
  return isTextKey(key) ? text(language, key) : action
}

function subjectInWords(language: PageRequest['language'], { action, subject }: OperatorAction): string {
  switch (action) {
    case 'note.add':
      return ''
    case 'operator.on':
      return isRole(subject) ? text(language, `operator.role.${subject}`) : subject
    case 'session.end':
      return subject === 'all' ? text(language, 'operator.log.every_session') : subject
    case 'upstream.test':
      return subject.replace(/^(.*): (\d+) failed$/, (_, id, count) =>
        text(language, 'operator.log.tested', { id, count }),
      )
    case 'banner.set':
      return subject.replace(/^([\d-]{10}T[\d:]{5}) (\+07:00)$/, (_, local, zone) => time(new Date(`${local}${zone}`)))
    case 'payment.enter':
      return amountsInWords(language, subject).replace(/: (\w+)$/, (whole, outcome) => {
        const key = `operator.transfer.state.${outcome === 'duplicate' ? 'alias' : outcome}`
        return isTextKey(key) ? `: ${text(language, key)}` : whole
      })
    default:
      return action.startsWith('key.') ? keyInWords(language, subject) : amountsInWords(language, subject)
  }
}

/** Turns `12: 50000 VND` into `key 12: 50.000 ₫`. */
function keyInWords(language: PageRequest['language'], subject: string): string {
  const [, number, rest = ''] = /^(\d+)(: .*)?$/.exec(subject) ?? []
  if (number === undefined) return subject
  const limit = rest === ': none' ? `: ${text(language, 'operator.log.no_limit')}` : amountsInWords(language, rest)
  return text(language, 'operator.log.key', { number }) + limit
}

/** Turns `bank_txn:12 50000 VND` into `transfer 12, 50.000 ₫`. */
function amountsInWords(language: PageRequest['language'], subject: string): string {
  return subject
    .replace(/\bbank_txn:(\d+) /, (_, number) => `${text(language, 'operator.log.transfer', { number })}, `)
    .replace(/(-?\d+)(?:\.(\d{1,6}))? VND\b/, (_, whole, fraction = '') =>
      dongOfMicro(microVnd(BigInt(whole + fraction.padEnd(6, '0')))),
    )
}
