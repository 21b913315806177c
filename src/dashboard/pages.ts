/** The table of all pages: path, who may see it, purpose. */

import { OUTBOX_PAGES } from './development/outbox.ts'
import { KEY_PAGES } from './money/key.ts'
import { KEY_LIST_PAGES } from './money/key-list.ts'
import { ORDER_PAGES } from './money/order.ts'
import { OVERVIEW } from './money/overview.ts'
import { ORDER_RECEIPT } from './money/receipt.ts'
import { TOP_UP_PAGES } from './money/top-up.ts'
import { USAGE_PAGES } from './money/usage.ts'
import { USAGE_CALL } from './money/usage-call.ts'
import { OPERATOR_ACCOUNT_PAGES } from './operator/accounts.ts'
import { BANNER_PAGES } from './operator/banner.ts'
import { BUSINESS_PAGES } from './operator/business.ts'
import { CALL_PAGES } from './operator/call.ts'
import { CALL_LIST_PAGES } from './operator/calls.ts'
import { HOME_PAGES } from './operator/home.ts'
import { OPERATOR_LIST_PAGES } from './operator/lists.ts'
import { LOG_PAGES } from './operator/log.ts'
import { RECEIPT_PAGES } from './operator/receipts.ts'
import { TEAM_PAGES } from './operator/team.ts'
import { TRANSFER_PAGES } from './operator/transfer-forms.ts'
import { UPSTREAM_PAGES } from './operator/upstreams.ts'
import type { DashboardOptions } from './options.ts'
import type { Page } from './page.ts'
import { ACCOUNT_PAGES } from './people/account.ts'
import { ALERT_PAGES } from './people/alerts.ts'
import { DELETE_PAGES } from './people/delete-account.ts'
import { EMAIL_PAGES } from './people/email.ts'
import { INVOICE_PAGES } from './people/invoice.ts'
import { PASSKEY_PAGES } from './people/passkeys.ts'
import { PROVIDER_PAGES } from './people/providers.ts'
import { REGISTER_PAGES } from './people/register.ts'
import { RESET_PAGES } from './people/reset.ts'
import { SECOND_FACTOR_PAGES } from './people/second-factor.ts'
import { SIGN_IN_PAGES } from './people/sign-in.ts'
import { SIGN_INS_PAGES } from './people/sign-ins.ts'
import { WEBHOOK_PAGES } from './people/webhooks.ts'
import { PLAYGROUND_PAGES } from './playground/page.ts'
import { COMPARE } from './public/compare.ts'
import { CRAWLER_PAGES } from './public/crawlers.ts'
import { DUTY_PAGES } from './public/duties.ts'
import { GUIDE_PAGES } from './public/guides.ts'
import { LANDING } from './public/landing.ts'
import { MODEL_PAGE } from './public/model.ts'
import { MODEL_LIST } from './public/models.ts'
import { UNSUBSCRIBE_PAGES } from './public/unsubscribe.ts'

export const PAGES: readonly Page[] = [
  LANDING,
  MODEL_LIST,
  MODEL_PAGE,
  COMPARE,
  ...GUIDE_PAGES,
  ...DUTY_PAGES,
  ...CRAWLER_PAGES,
  ...REGISTER_PAGES,
  ...SIGN_IN_PAGES,
  ...PROVIDER_PAGES,
  ...RESET_PAGES,
  ...ACCOUNT_PAGES,
  ...SIGN_INS_PAGES,
  ...SECOND_FACTOR_PAGES,
  ...PASSKEY_PAGES,
  ...EMAIL_PAGES,
  ...DELETE_PAGES,
  ...INVOICE_PAGES,
  ...ALERT_PAGES,
  ...WEBHOOK_PAGES,
  ...UNSUBSCRIBE_PAGES,
  OVERVIEW,
  ...KEY_LIST_PAGES,
  ...KEY_PAGES,
  ...TOP_UP_PAGES,
  ...ORDER_PAGES,
  ORDER_RECEIPT,
  ...USAGE_PAGES,
  USAGE_CALL,
  ...PLAYGROUND_PAGES,
  ...HOME_PAGES,
  ...CALL_LIST_PAGES,
  ...CALL_PAGES,
  ...BUSINESS_PAGES,
  ...RECEIPT_PAGES,
  ...UPSTREAM_PAGES,
  ...OPERATOR_ACCOUNT_PAGES,
  ...TRANSFER_PAGES,
  ...OPERATOR_LIST_PAGES,
  ...LOG_PAGES,
  ...TEAM_PAGES,
  ...BANNER_PAGES,
]

/** The pages of this process; development pages do not exist in production. */
export function pagesOf({ outboxFolder }: DashboardOptions): readonly Page[] {
  return outboxFolder === null ? PAGES : [...PAGES, ...OUTBOX_PAGES]
}
