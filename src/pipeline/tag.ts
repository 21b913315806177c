/** An optional label that clients attach to calls, for searching and for subtotals. It is not sent upstream. */

import { GatewayError } from '../errors.ts'
import { TAG } from '../ledger/check.ts'
import type { Call, Services } from './call.ts'

const nameOf = ({ catalogue }: Services): string => `x-${catalogue.settings.service}-tag`

/** The call's tag; null if it has none or a malformed one. */
export function tagOf(services: Services, call: Call): string | null {
  const tag = call.header(nameOf(services))
  return tag !== undefined && TAG.test(tag) ? tag : null
}

/** Throws GatewayError `invalid_request` if the tag is malformed. */
export function checkTag(services: Services, call: Call): void {
  const tag = call.header(nameOf(services))
  if (tag === undefined || tag === '' || TAG.test(tag)) return
  throw new GatewayError('invalid_request', {
    message:
      `${nameOf(services)}: A tag has 1 to 64 characters: letters without accents, digits and . _ : / @ -, ` +
      'the first one a letter or a digit. Leave the header out for none.',
  })
}
