/**
 * Fetches the images of a call concurrently. They share a byte budget, their bytes count against the memory for bodies, and the
 * first failure aborts the others.
 */

import { type Cancellation, signalOf } from '../lib/cancellation.ts'
import type { ImageCall } from '../upstream/fetch-image.ts'
import type { Call } from './call.ts'

export interface FetchBounds {
  readonly call: Pick<Call, 'caller' | 'reserve'>
  /** Size limit of all images together, in bytes. */
  readonly bytesMax: number
  readonly signal: Cancellation
}

/** Returns the fetched items in order. Rejects with the first failure. */
export async function fetchTogether<Item, Fetched>(
  items: readonly Item[],
  { call, bytesMax, signal }: FetchBounds,
  fetch: (item: Item, fetching: Omit<ImageCall, 'field'>) => Promise<Fetched>,
): Promise<Fetched[]> {
  const failed = new AbortController()
  const fetching = {
    accountId: call.caller.accountId,
    signal: AbortSignal.any([signalOf(signal), failed.signal]),
    budget: { bytesLeft: bytesMax },
    reserve: call.reserve,
  }
  try {
    return await Promise.all(items.map(item => fetch(item, fetching)))
  } catch (error) {
    failed.abort()
    throw error
  }
}
