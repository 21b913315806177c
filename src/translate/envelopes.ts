/** Creates and opens the envelopes of a call: tokens that carry an upstream's sealed reasoning, for one account only. */

import type { EnvelopeSigner } from '../conversation/envelope.ts'
import { envelopePayload } from '../conversation/reasoning-envelope.ts'
import type { Envelopes } from './translator.ts'

export function envelopesOf(envelopeSigner: EnvelopeSigner, origin: string): Envelopes {
  return {
    origin,
    openEnvelope: text => envelopeSigner.open(text),
    wrapSeal: (seal, lengths) => envelopeSigner.wrap(envelopePayload(seal, origin, lengths)),
    wrapJson: json => envelopeSigner.wrapJson(json),
  }
}
