/** Names for parts of the generated dialect type. */

import type { Dialect, DialectReasoning } from '../generated/types.ts'

export type { Dialect, DialectReasoning }
export type EffortLevel = DialectReasoning['levels'][number]
