/** The table of all alerts. */

interface AlertKindFacts {
  /**
   * Whether the alert is emailed. `always`: security alerts and receipts, which cannot be switched off. `on`, `off`: the default
   * until the customer decides.
   */
  readonly mail: 'always' | 'on' | 'off'
  /** `operators`: only operators whose role lets them move money. */
  readonly audience: 'customers' | 'operators'
}

/** The names are public: webhooks carry them as `type`. */
export const ALERT_KINDS = {
  'balance.low': { mail: 'on', audience: 'customers' },
  'balance.empty': { mail: 'on', audience: 'customers' },
  'key.limit_reached': { mail: 'on', audience: 'customers' },
  'topup.credited': { mail: 'always', audience: 'customers' },
  'key.created': { mail: 'always', audience: 'customers' },
  'key.revoked': { mail: 'on', audience: 'customers' },
  'session.new': { mail: 'always', audience: 'customers' },
  'model.retiring': { mail: 'on', audience: 'customers' },
  'webhook.disabled': { mail: 'always', audience: 'customers' },
  'summary.weekly': { mail: 'off', audience: 'customers' },
  'topup.unmatched': { mail: 'on', audience: 'operators' },
} as const satisfies Readonly<Record<string, AlertKindFacts>>

export type AlertKind = keyof typeof ALERT_KINDS

export const ALL_KINDS = Object.keys(ALERT_KINDS) as readonly AlertKind[]

export function isAlertKind(text: string): text is AlertKind {
  return Object.hasOwn(ALERT_KINDS, text)
}

/** Whether emails of this kind can be switched off. */
export function hasSwitch(kind: AlertKind): boolean {
  return ALERT_KINDS[kind].mail !== 'always'
}

/** The data of each kind of alert, as stored and as sent to webhooks. Amounts are in decimal dong, as in response headers. */
export interface AlertData {
  readonly 'balance.low': {
    readonly balance: string
    /** The balance counts as low if it is below this amount, or if `days_left` is below 3. */
    readonly threshold: string
    readonly days_left: number | null
    readonly currency: 'VND'
  }
  readonly 'balance.empty': { readonly balance: '0'; readonly currency: 'VND' }
  readonly 'key.limit_reached': KeyFacts & {
    readonly limit: string
    readonly used: string
    /** How often the limit resets: `daily`, `weekly`, `monthly`; null: never. */
    readonly limit_reset: string | null
    readonly percent: 80 | 100
    readonly currency: 'VND'
  }
  readonly 'topup.credited': {
    readonly amount: string
    readonly balance: string
    readonly order_code: string | null
    readonly bank_reference: string | null
    readonly currency: 'VND'
  }
  readonly 'key.created': KeyFacts
  readonly 'key.revoked': KeyFacts
  readonly 'session.new': {
    /** Browser and system, such as `Chrome, Windows`; '' if unknown. */
    readonly device: string
    readonly signed_in_at: string
  }
  readonly 'model.retiring': {
    readonly model: string
    readonly retires_on: string
    /** The model that calls will go to once this model has retired; null if they will fail. */
    readonly successor: string | null
  }
  readonly 'webhook.disabled': {
    readonly webhook_id: number
    /** Host of the webhook's URL; the rest of the URL may be a secret. */
    readonly host: string
    readonly reason: 'failures' | 'gone'
  }
  readonly 'summary.weekly': {
    /** First day of the week; `to` is its last. */
    readonly from: string
    readonly to: string
    readonly calls: number
    readonly charged: string
    readonly balance: string
    readonly models: readonly { readonly model: string; readonly calls: number; readonly charged: string }[]
    readonly currency: 'VND'
  }
  readonly 'topup.unmatched': {
    readonly bank_transaction: number
    readonly amount: string
    readonly bank_reference: string | null
    readonly currency: 'VND'
  }
}

interface KeyFacts {
  readonly key_id: number
  readonly name: string
  readonly last4: string
}
