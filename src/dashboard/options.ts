/** Services and settings that the process passes to the pages. */

import type { KeySecrets } from '../accounts/key-secret.ts'
import type { PeopleServices } from '../accounts/types.ts'
import type { AlertServices } from '../alerts/types.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Sql } from '../lib/database.ts'
import type { Logger } from '../lib/log.ts'
import type { AnnouncementBoard } from '../operations/banner.ts'
import type { TaxRate } from '../payments/tax.ts'
import type { PaymentServices } from '../payments/types.ts'
import type { CallObserver } from '../pipeline/call.ts'
import type { UpstreamTest } from '../pipeline/test-upstream.ts'
import type { UpstreamStatus } from '../upstream/registry.ts'

/** Who runs the service, and how its customers reach them. */
export interface Company {
  readonly name: string
  readonly address: string
  readonly taxCode: string
  readonly representative: string | null
  readonly email: string
  readonly phone: string | null
  /** Link to the company's Zalo page. */
  readonly zalo: string | null
}

export interface DashboardOptions {
  readonly catalogue: Catalogue
  readonly people: PeopleServices
  readonly payments: PaymentServices
  readonly alerts: AlertServices
  readonly keySecrets: KeySecrets
  /** A separate pool with a short statement timeout, so that no page can hold up calls. */
  readonly sql: Sql
  readonly upstreams: () => readonly UpstreamStatus[]
  /** Tests an upstream by asking for one token with each of its credentials. */
  readonly testUpstream: (upstreamId: string) => Promise<UpstreamTest>
  /** Rates of value-added tax, by start date. */
  readonly taxRates: readonly TaxRate[]
  /** OpenAPI 3.1 description of the API that this process serves. */
  readonly openApi: OpenApiView
  /** Base URL that clients use, without a trailing slash. */
  readonly publicUrl: string
  /** Null if not configured, which is allowed only outside production. */
  readonly company: Company | null
  /** Folder of the legal pages as the operator wrote them; if it is null, our drafts of these pages are shown. */
  readonly contentFolder: string | null
  readonly announcements: AnnouncementBoard
  /** Folder to which development emails are written, for the outbox page; null disables that page. */
  readonly outboxFolder: string | null
  readonly production: boolean
  readonly log: Logger
  /** Counts a page that could not be shown. */
  readonly onFailed: CallObserver['pageFailed']
  readonly now: () => Date
  readonly limits: DashboardLimits
}

/** The part of the OpenAPI document that the reference page shows. */
export interface OpenApiView {
  readonly document: Readonly<Record<string, unknown>>
  readonly operations: readonly OperationView[]
}

export interface OperationView {
  readonly method: 'GET' | 'POST'
  readonly path: string
  /** The operation's anchor on the page. */
  readonly operationId: string
  readonly summary: string
  readonly description: string
  readonly fields: readonly FieldView[]
  readonly answers: readonly { readonly status: string; readonly description: string }[]
  /** A request body that works unchanged; null for GET. */
  readonly example: string | null
}

export interface FieldView {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly description: string
}

export interface DashboardLimits {
  readonly formBytesMax: number
  /** Maximum number of fields of a form or a query. A form with more is refused; further fields of a query are ignored. */
  readonly fieldsMax: number
  readonly tableRows: number
  /** Longest period of the usage page, in days. */
  readonly usageDaysMax: number
  readonly outboxMailsMax: number
  /**
   * A manual balance change, or a transfer entered by hand, above this amount in whole dong has to be confirmed; above `adjustVndMax`
   * it is refused.
   */
  readonly adjustAskVnd: number
  readonly adjustVndMax: number
  /** Maximum amount that an account may spend in the playground per day (Vietnam time), in whole dong. */
  readonly playgroundDailyVndMax: number
  /** Maximum number of concurrent CSV exports in this process, in total and for one account. */
  readonly exportsMax: number
  readonly exportsPerAccountMax: number
  /** An export ends if its reader takes longer than this, in ms, to ask for the next few hundred kilobytes. */
  readonly exportStallMs: number
  /** How long the models' success rates and times to first byte are cached, in seconds. */
  readonly modelFiguresSeconds: number
  /** How long a page waits for the models' figures, in ms. */
  readonly modelFiguresWaitMs: number
  /** Minimum number of calls for a model's figures to be shown. Figures from fewer calls mean little. */
  readonly modelFiguresCallsMin: number
}

/** The limits that the environment cannot change. */
export const DASHBOARD_LIMITS: Omit<DashboardLimits, 'adjustAskVnd' | 'adjustVndMax' | 'playgroundDailyVndMax'> = {
  formBytesMax: 64 * 1024,
  fieldsMax: 50,
  tableRows: 50,
  usageDaysMax: 366,
  outboxMailsMax: 50,
  exportsMax: 4,
  exportsPerAccountMax: 2,
  exportStallMs: 120_000,
  modelFiguresSeconds: 300,
  modelFiguresWaitMs: 500,
  modelFiguresCallsMin: 20,
}
