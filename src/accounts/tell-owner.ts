/** Notifies an account's owner by email of changes to the account, in case somebody else made them. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Mailer, MailMessage } from '../lib/mail.ts'
import type { MailFacts, MailText } from './mail-texts-account.ts'
import type { PeopleServices } from './types.ts'

/** Number of emails that wait for another attempt with a mailer. */
const waiting = new WeakMap<Mailer, number>()

/** Does not wait for the email to be sent: the change stands whether or not it arrives. */
export function tellOwner(services: PeopleServices, email: string, write: (facts: MailFacts) => MailText): void {
  const mail = write({ service: services.serviceName, publicUrl: services.publicUrl })
  void sendPatiently(services, { to: email, ...mail })
}

/** Nobody asks again for a notice that did not arrive, so it gets further attempts for as long as the process lives. */
async function sendPatiently({ mailer, limits, onMailFailed }: PeopleServices, mail: MailMessage): Promise<void> {
  for (const pauseMs of [...limits.noticePausesMs, null]) {
    try {
      return await mailer.send(mail)
    } catch (cause) {
      onMailFailed(cause)
    }
    const others = waiting.get(mailer) ?? 0
    if (pauseMs === null || others >= limits.noticesWaitingMax) return
    waiting.set(mailer, others + 1)
    await sleep(pauseMs, undefined, { ref: false })
    waiting.set(mailer, (waiting.get(mailer) as number) - 1)
  }
}
