/**
 * One address per page and language, for search engines: they send no cookies and no language of their own. The plain
 * address is the Vietnamese one; visitors of it get the language that they prefer.
 */

import type { Language } from '../accounts/types.ts'
import { Form } from './form.ts'
import { splitTarget } from './guard.ts'
import { LANGUAGES } from './preferences.ts'

/** Unlike `language`, this field is never remembered and redirects nobody. */
export const LANGUAGE_FIELD = 'lang'

export function languageAsked(url: string): Language | null {
  return new Form(new URLSearchParams(splitTarget(url).query)).choice(LANGUAGE_FIELD, LANGUAGES)
}

/** Links to a page in each language, from its address without a query. */
export function alternatesOf(address: string): Readonly<Record<Language, string>> {
  return { vi: address, en: `${address}?${LANGUAGE_FIELD}=en` }
}
