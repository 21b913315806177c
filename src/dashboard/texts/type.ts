/** A table of UI texts: each key with its text in every language. */

import type { Language } from '../../accounts/types.ts'

export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>
