/** Notifies an account's owner by email of changes to the account, in case somebody else made them. */

import type { MailFacts, MailText } from './mail-texts-account.ts'
import type { PeopleServices } from './types.ts'

/** Does not wait for the email to be sent: the change stands whether or not it arrives. */
export function tellOwner(services: PeopleServices, email: string, write: (facts: MailFacts) => MailText): void {
  const mail = write({ service: services.serviceName, publicUrl: services.publicUrl })
  services.mailer.send({ to: email, ...mail }).catch(services.onMailFailed)
}
