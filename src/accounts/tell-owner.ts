/** Mails about what has been done to an account, so that its owner notices what others do. */

import type { MailFacts, MailText } from './mail-texts-account.ts'
import type { PeopleServices } from './types.ts'

/** Does not wait for the mail: the change is made whether or not it arrives. */
export function tellOwner(services: PeopleServices, email: string, write: (facts: MailFacts) => MailText): void {
  const mail = write({ service: services.serviceName, publicUrl: services.publicUrl })
  services.mailer.send({ to: email, ...mail }).catch(services.onMailFailed)
}
