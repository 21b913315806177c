/** Fetches the images of one call together: they share a budget of bytes, and the first that fails ends the others. */

import { type Cancellation, signalOf } from '../lib/cancellation.ts'
import type { ImageCall } from '../upstream/fetch-image.ts'

/** Rejects as the first fetch that fails. */
export async function fetchTogether<Item, Fetched>(
  items: readonly Item[],
  { bytesMax, signal }: { readonly bytesMax: number; readonly signal: Cancellation },
  fetch: (item: Item, call: Pick<ImageCall, 'signal' | 'budget'>) => Promise<Fetched>,
): Promise<Fetched[]> {
  const failed = new AbortController()
  const call = { signal: AbortSignal.any([signalOf(signal), failed.signal]), budget: { bytesLeft: bytesMax } }
  try {
    return await Promise.all(items.map(item => fetch(item, call)))
  } catch (error) {
    failed.abort()
    throw error
  }
}
