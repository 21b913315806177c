/** Fetches the images of a call concurrently. They share a byte budget, and the first failure aborts the others. */

import { type Cancellation, signalOf } from '../lib/cancellation.ts'
import type { ImageCall } from '../upstream/fetch-image.ts'

/** Returns the fetched items in order. Rejects with the first failure. */
export async function fetchTogether<Item, Fetched>(
  items: readonly Item[],
  {
    accountId,
    bytesMax,
    signal,
  }: { readonly accountId: number; readonly bytesMax: number; readonly signal: Cancellation },
  fetch: (item: Item, call: Omit<ImageCall, 'field'>) => Promise<Fetched>,
): Promise<Fetched[]> {
  const failed = new AbortController()
  const call = {
    accountId,
    signal: AbortSignal.any([signalOf(signal), failed.signal]),
    budget: { bytesLeft: bytesMax },
  }
  try {
    return await Promise.all(items.map(item => fetch(item, call)))
  } catch (error) {
    failed.abort()
    throw error
  }
}
