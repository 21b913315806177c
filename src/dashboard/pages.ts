/** The table of all pages: path, who may see it, what it is for. */

import type { DashboardOptions } from './options.ts'
import type { Page } from './page.ts'
import { GUIDE_PAGES } from './public/guides.ts'
import { LANDING } from './public/landing.ts'
import { MODEL_PAGES } from './public/models.ts'

export const PAGES: readonly Page[] = [LANDING, ...MODEL_PAGES, ...GUIDE_PAGES]

/** Pages of a process: those for development are not there in production. */
export function pagesOf(_options: DashboardOptions): readonly Page[] {
  return PAGES
}
