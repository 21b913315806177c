/** The shape of a table of texts. */

import type { Language } from '../../accounts/types.ts'

export type Texts = Readonly<Record<string, Readonly<Record<Language, string>>>>
