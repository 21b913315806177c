/** The table of all pages: path, who may see it, what it is for. */

import { OUTBOX_PAGES } from './development/outbox.ts'
import type { DashboardOptions } from './options.ts'
import type { Page } from './page.ts'
import { ACCOUNT_PAGES } from './people/account.ts'
import { REGISTER_PAGES } from './people/register.ts'
import { RESET_PAGES } from './people/reset.ts'
import { SIGN_IN_PAGES } from './people/sign-in.ts'
import { GUIDE_PAGES } from './public/guides.ts'
import { LANDING } from './public/landing.ts'
import { MODEL_PAGES } from './public/models.ts'

export const PAGES: readonly Page[] = [
  LANDING,
  ...MODEL_PAGES,
  ...GUIDE_PAGES,
  ...REGISTER_PAGES,
  ...SIGN_IN_PAGES,
  ...RESET_PAGES,
  ...ACCOUNT_PAGES,
]

/** Pages of a process: those for development are not there in production. */
export function pagesOf({ outboxFolder }: DashboardOptions): readonly Page[] {
  return outboxFolder === null ? PAGES : [...PAGES, ...OUTBOX_PAGES]
}
