/** A visitor's language and theme, kept in two plain cookies. By default, the browser decides; a URL may set the language. */

import type { Language } from '../accounts/types.ts'

export const LANGUAGES: readonly Language[] = ['vi', 'en']
export const THEMES = ['auto', 'light', 'dark'] as const
export type Theme = (typeof THEMES)[number]

export interface Preferences {
  readonly language: Language
  readonly theme: Theme
}

export function readPreferences(
  cookies: Readonly<Record<string, string | undefined>>,
  acceptLanguage: string | undefined,
  /** The language that the URL requests, if any. */
  asked: Language | null = null,
): Preferences {
  const chosen = asked ?? LANGUAGES.find(language => language === cookies.language)
  return {
    language: chosen ?? preferredLanguage(acceptLanguage ?? ''),
    theme: THEMES.find(theme => theme === cookies.theme) ?? 'auto',
  }
}

/** Vietnamese unless the browser prefers English. */
function preferredLanguage(header: string): Language {
  const accepted = header
    .slice(0, 300)
    .split(',')
    .map(part => {
      const [tag = '', quality] = part.trim().toLowerCase().split(';q=')
      return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
    })
    .filter(({ language, quality }) => (language === 'vi' || language === 'en') && quality > 0)
    .sort((left, right) => right.quality - left.quality)
  return accepted[0]?.language === 'en' ? 'en' : 'vi'
}
