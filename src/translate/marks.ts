/** Marks of one call: made for the account that calls, of reasoning that comes from where the call goes. */

import { markPayload } from '../conversation/marks.ts'
import type { Sealer } from '../conversation/seal.ts'
import type { Marks } from './translator.ts'

export function marksOf(sealer: Sealer, origin: string): Marks {
  return {
    origin,
    openMark: text => sealer.open(text),
    markSeal: (seal, lengths) => sealer.seal(markPayload(seal, origin, lengths)),
    mark: payload => sealer.seal(payload),
  }
}
