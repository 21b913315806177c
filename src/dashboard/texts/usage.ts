import type { Texts } from './type.ts'

export const USAGE_TEXTS = {} as const satisfies Texts
