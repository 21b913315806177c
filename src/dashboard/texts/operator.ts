import type { Texts } from './type.ts'

export const OPERATOR_TEXTS = {} as const satisfies Texts
