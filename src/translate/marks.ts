/** Creates and opens the marks of a call: tokens that carry an upstream's sealed reasoning, for one account only. */

import { markPayload } from '../conversation/marks.ts'
import type { Sealer } from '../conversation/seal.ts'
import type { Marks } from './translator.ts'

export function marksOf(sealer: Sealer, origin: string): Marks {
  return {
    origin,
    openMark: text => sealer.open(text),
    markSeal: (seal, lengths) => sealer.seal(markPayload(seal, origin, lengths)),
    mark: json => sealer.sealJson(json),
  }
}
