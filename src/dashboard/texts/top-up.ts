import type { Texts } from './type.ts'

export const TOP_UP_TEXTS = {} as const satisfies Texts
