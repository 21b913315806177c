/** The alerts page: which alerts are emailed to the account's owner, and the account's webhooks. */

import { mayDo } from '../../accounts/roles.ts'
import { ALERT_KINDS, ALL_KINDS, type AlertKind, hasSwitch } from '../../alerts/kinds.ts'
import { LOW_VND_MAX, readAlertSettings, writeAlertSettings } from '../../alerts/settings.ts'
import { listWebhooks, type Webhook } from '../../alerts/webhooks.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { dong } from '../view/format.ts'

export const ALERTS_PATH = '/account/alerts'

export const ALERT_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: ALERTS_PATH,
    authentication: 'session',
    purpose: 'Alerts by mail and webhook',
    handle: request => alertsPage(request),
  },
  { method: 'POST', path: ALERTS_PATH, authentication: 'session', purpose: 'Chooses them', handle: save },
]

const LOW_CHARACTERS_MAX = 30

interface RejectedForm {
  readonly mail?: ReadonlySet<AlertKind>
  readonly low?: string
  readonly lowFault?: string
  readonly url?: string
  readonly urlFault?: string
}

/** The text key of an alert kind's display name. */
export function kindKey(kind: string): TextKey {
  return `alerts.kind.${kind.replace('.', '_')}` as TextKey
}

/** Alert kinds for this person's page: operators' alerts only for roles that may handle money, all others for everybody. */
export function kindsFor(request: PageRequest): readonly AlertKind[] {
  const { role } = signedIn(request)
  return ALL_KINDS.filter(kind => ALERT_KINDS[kind].audience === 'customers' || mayDo(role, 'money'))
}

/** Shows the page; `rejected`: the input and faults of a rejected form. */
export async function alertsPage(request: PageRequest, rejected: RejectedForm = {}): Promise<Answer> {
  const { options, language, query } = request
  const { accountId, email } = signedIn(request)
  const { lowVnd, lowDays, webhooksMax } = options.alerts.limits
  const settings = await readAlertSettings(options.sql, accountId)
  const webhooks = await listWebhooks(options.sql, accountId)
  const mail = rejected.mail ?? settings.mail
  const hasFault = rejected.lowFault !== undefined || rejected.urlFault !== undefined
  return {
    kind: 'page',
    template: 'alerts',
    title: text(language, 'alerts.title'),
    section: 'account',
    status: hasFault ? 422 : 200,
    data: {
      email,
      notice: query.choice('done', ['saved']) === null ? null : text(language, 'alerts.done'),
      kinds: kindsFor(request).map(kind => ({
        kind,
        labelKey: kindKey(kind),
        isOn: mail.has(kind),
        isFixed: !hasSwitch(kind),
      })),
      low: rejected.low ?? (settings.lowVnd === null ? '' : dong(settings.lowVnd).slice(0, -2)),
      lowMax: LOW_CHARACTERS_MAX,
      lowHint: text(language, 'alerts.low.hint', { amount: dong(lowVnd), days: lowDays }),
      lowFault: rejected.lowFault ?? null,
      webhooks: webhooks.map(webhookView),
      canAdd: webhooks.length < webhooksMax,
      url: rejected.url ?? '',
      urlFault: rejected.urlFault ?? null,
    },
  }
}

export function webhookView(webhook: Webhook) {
  const state = webhook.disabledFor ?? 'on'
  const { host = '', pathname = '' } = URL.parse(webhook.url) ?? {}
  return {
    webhookId: webhook.webhookId,
    url: webhook.url,
    host,
    /** Host and path tell webhooks apart without the tokens that a query may hold. */
    place: host + pathname,
    stateKey: `webhook.state.${state}`,
    tone: state === 'on' ? 'good' : state === 'owner' ? '' : 'bad',
    isOn: state === 'on',
    deliveredAt: webhook.deliveredAt,
  }
}

async function save(request: PageRequest): Promise<Answer> {
  const { options, language, form } = request
  const { accountId } = signedIn(request)
  const shown = kindsFor(request)
  // Alerts that the form does not show stay as they are: the person may become an operator later.
  const { mail: before } = await readAlertSettings(options.sql, accountId)
  const mail = new Set(ALL_KINDS.filter(kind => (shown.includes(kind) ? form.has(kind) : before.has(kind))))
  const low = form.text('low', LOW_CHARACTERS_MAX)
  const lowVnd = low === '' ? null : readAmountVnd(low)
  if (low !== '' && (lowVnd === null || lowVnd < 1 || lowVnd > LOW_VND_MAX)) {
    return alertsPage(request, { mail, low, lowFault: text(language, 'alerts.low.fault', { max: dong(LOW_VND_MAX) }) })
  }
  await writeAlertSettings(options.sql, accountId, { mail, lowVnd })
  return { kind: 'redirect', to: `${ALERTS_PATH}?done=saved` }
}
