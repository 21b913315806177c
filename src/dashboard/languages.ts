/**
 * Gives every page one URL per language for search engines, which send neither cookies nor a preferred language. At the plain
 * URL, search engines get the Vietnamese page, and people get the language that they prefer.
 */

import type { Language } from '../accounts/types.ts'
import { Form } from './form.ts'
import { splitTarget } from './guard.ts'
import { LANGUAGES } from './preferences.ts'

/**
 * Query field that selects the language of one page. The field `language`, by contrast, stores the choice in a cookie and
 * redirects to the URL without it.
 */
export const LANGUAGE_FIELD = 'lang'

export function languageAsked(url: string): Language | null {
  return new Form(new URLSearchParams(splitTarget(url).query)).choice(LANGUAGE_FIELD, LANGUAGES)
}

/** The page's URL in each language. `address` is its URL without a query. */
export function alternatesOf(address: string): Readonly<Record<Language, string>> {
  return { vi: address, en: `${address}?${LANGUAGE_FIELD}=en` }
}
