/**
 * Gives every page one address per language for search engines, which send neither cookies nor a preferred language. At the plain
 * address, search engines get the Vietnamese page; people get the language that they prefer.
 */

import type { Language } from '../accounts/types.ts'
import { Form } from './form.ts'
import { splitTarget } from './guard.ts'
import { LANGUAGES } from './preferences.ts'

/** Unlike `language`, this field is never remembered and causes no redirect. */
export const LANGUAGE_FIELD = 'lang'

export function languageAsked(url: string): Language | null {
  return new Form(new URLSearchParams(splitTarget(url).query)).choice(LANGUAGE_FIELD, LANGUAGES)
}

/** Links to a page in each language. `address` has no query. */
export function alternatesOf(address: string): Readonly<Record<Language, string>> {
  return { vi: address, en: `${address}?${LANGUAGE_FIELD}=en` }
}
