import type { Texts } from './index.ts'

export const USAGE_TEXTS = {} as const satisfies Texts
