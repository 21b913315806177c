import type { Texts } from './index.ts'

export const KEY_TEXTS = {} as const satisfies Texts
