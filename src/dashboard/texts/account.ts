import type { Texts } from './index.ts'

export const ACCOUNT_TEXTS = {} as const satisfies Texts
