/** Reads `n`, the number of choices that a call requests, and checks that the model can return that many. */

import { GatewayError } from '../errors.ts'
import type { ModelEntry } from '../generated/types.ts'
import type { JsonObject } from '../lib/json.ts'

/** Limit for providers without one in the catalogue, so that a hold stays bounded. */
const CHOICES_MAX = 1024

/**
 * The number of choices requested, at least 1; the hold is multiplied by it. A call may go to any target of its entry, so the
 * strictest limit applies. Throws GatewayError `invalid_request`.
 */
export function readChoices({ n }: JsonObject, entry: ModelEntry): number {
  if (n === undefined || n === null) return 1
  if (typeof n !== 'number' || !Number.isSafeInteger(n) || n < 1)
    throw invalid('Input should be a whole number of choices, 1 or more')
  const limits = entry.upstreams.map(({ dialect }) => dialect.output.choicesMax ?? CHOICES_MAX)
  const most = Math.min(...limits)
  if (n <= most) return n
  if (most > 1) throw invalid(`at most ${most} choices can be requested in one call with this model`)
  throw invalid(
    entry.price.per === 'request'
      ? `${entry.id} is priced per call and returns one choice; leave n out, or call it once for each choice`
      : 'this model returns one choice per call; leave n out, or call it once for each choice',
  )
}

function invalid(problem: string): GatewayError {
  return new GatewayError('invalid_request', { message: `n: ${problem}` })
}
