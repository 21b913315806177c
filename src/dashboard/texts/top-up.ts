import type { Texts } from './index.ts'

export const TOP_UP_TEXTS = {} as const satisfies Texts
