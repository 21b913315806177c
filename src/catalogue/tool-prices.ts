/** What callers of an entry pay for each use of the tools that providers run, on top of the entry's own price. */

import type { ModelEntry } from '../generated/types.ts'

export interface ToolPrice {
  /** The tool's name in the catalogue, such as `web_search`. */
  readonly tool: string
  readonly vnd: number
}

/** Returns the tools that are sold per use. Where upstreams differ, the highest price counts: any of them may serve a call. */
export function toolPrices({ upstreams }: ModelEntry): readonly ToolPrice[] {
  const prices = new Map<string, number>()
  for (const { extras } of upstreams) {
    for (const [tool, treatment] of Object.entries(extras.tools)) {
      if (typeof treatment !== 'string') prices.set(tool, Math.max(treatment.price.vnd, prices.get(tool) ?? 0))
    }
  }
  return [...prices].map(([tool, vnd]) => ({ tool, vnd }))
}
