/** Turns an alert into an email in the owner's language, with an unsubscribe link if alerts of its kind can be switched off. */

import type { Language } from '../accounts/types.ts'
import type { MailMessage } from '../lib/mail.ts'
import { type AlertData, type AlertKind, hasSwitch } from './kinds.ts'
import { ALERT_MAILS, FOOT, type MailText } from './mail-texts.ts'
import type { AlertServices } from './types.ts'
import { unsubscribeToken } from './unsubscribe.ts'

export interface MailedAlert<Kind extends AlertKind = AlertKind> {
  readonly accountId: number
  readonly email: string
  readonly language: Language
  readonly kind: Kind
  readonly data: AlertData[Kind]
}

export function alertMail(
  { publicUrl, serviceName: service, secrets }: Pick<AlertServices, 'publicUrl' | 'serviceName' | 'secrets'>,
  { accountId, email, language, kind, data }: MailedAlert,
): MailMessage {
  const write = ALERT_MAILS[kind][language] as (data: unknown, facts: object) => MailText
  const { subject, text } = write(data, { service, publicUrl })
  const settingsUrl = `${publicUrl}/account/alerts`
  const endUrl = hasSwitch(kind)
    ? `${publicUrl}/unsubscribe?token=${unsubscribeToken(secrets.peppers, { accountId, kind })}`
    : null
  return {
    to: email,
    subject,
    text: `${text}\n-- \n${FOOT[language]({ settingsUrl, endUrl })}`,
    ...(endUrl !== null && { unsubscribeUrl: endUrl }),
  }
}
