/** A line of the operators' log as a person reads it. */

import type { OperatorAction } from '../../accounts/operator-log.ts'
import { isRole } from '../../accounts/roles.ts'
import { microVnd } from '../../lib/money.ts'
import type { PageRequest } from '../page.ts'
import { isTextKey, text } from '../texts/index.ts'
import { dongOfMicro, time } from '../view/format.ts'

export function actionView({ language }: Pick<PageRequest, 'language'>, entry: OperatorAction) {
  return {
    ...entry,
    what: describe(language, entry.action),
    subject: subjectInWords(language, entry),
  }
}

/** What was done, in words; the code itself for one that has none, such as a line of a newer version. */
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
    default:
      return amountsInWords(language, subject)
  }
}

/** `bank_txn:12 50000 VND` as `transfer 12, 50.000 ₫`. */
function amountsInWords(language: PageRequest['language'], subject: string): string {
  return subject
    .replace(/\bbank_txn:(\d+) /, (_, number) => `${text(language, 'operator.log.transfer', { number })}, `)
    .replace(/(-?\d+)(?:\.(\d{1,6}))? VND\b/, (_, whole, fraction = '') =>
      dongOfMicro(microVnd(BigInt(whole + fraction.padEnd(6, '0')))),
    )
}
