/** Shorter names for parts of the generated dialect type. */

import type { Dialect, DialectBetas, DialectReasoning, DialectTools } from '../generated/types.ts'

export type { Dialect, DialectBetas, DialectReasoning, DialectTools }
export type EffortLevel = NonNullable<DialectReasoning['levels']>[number]
