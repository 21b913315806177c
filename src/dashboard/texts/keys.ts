import type { Texts } from './type.ts'

export const KEY_TEXTS = {} as const satisfies Texts
