import type { Texts } from './index.ts'

export const OPERATOR_TEXTS = {} as const satisfies Texts
