/** A line of the operators' log as a person reads it. */

import type { OperatorAction } from '../../accounts/operator-log.ts'
import { microVnd } from '../../lib/money.ts'
import type { PageRequest } from '../page.ts'
import { isTextKey, text } from '../texts/index.ts'
import { dongOfMicro } from '../view/format.ts'

export function actionView({ language }: Pick<PageRequest, 'language'>, entry: OperatorAction) {
  return {
    ...entry,
    what: describe(language, entry.action),
    subject: entry.action === 'note.add' ? '' : amountsInWords(language, entry.subject),
  }
}

/** What was done, in words; the code itself for one that has none, such as a line of a newer version. */
export function describe(language: PageRequest['language'], action: string): string {
  const key = `operator.action.${action.replaceAll('.', '_')}`
  return isTextKey(key) ? text(language, key) : action
}

/** `bank_txn:12 50000 VND` as `transfer 12, 50.000 ₫`. */
function amountsInWords(language: PageRequest['language'], subject: string): string {
  return subject
    .replace(/\bbank_txn:(\d+) /, (_, number) => `${text(language, 'operator.log.transfer', { number })}, `)
    .replace(/(-?\d+)(?:\.(\d{1,6}))? VND\b/, (_, whole, fraction = '') =>
      dongOfMicro(microVnd(BigInt(whole + fraction.padEnd(6, '0')))),
    )
}
