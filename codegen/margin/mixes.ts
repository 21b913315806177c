/**
 * Usage mixes, for computing margins: what customers typically use for one unit of a price (a million tokens, a request or an
 * image).
 */

import type { CostUnits } from '../../src/catalogue/cost.ts'
import type { ModelEntry } from '../../src/generated/types.ts'

export interface Mix {
  readonly name: 'agent' | 'chat' | 'no_cache' | 'call' | 'image' | 'speech'
  readonly title: string
  readonly units: CostUnits
}

/**
 * Input tokens of a typical call, which decide its price tier. The million tokens of a mix stand for many calls of this size.
 */
export const CALL_INPUT_TOKENS = 30_000

const NO_UNITS: CostUnits = { inputTokens: 0, cachedInputTokens: 0, cacheWriteTokens: 0, outputTokens: 0, images: 0 }

const BY_TOKENS: readonly Mix[] = [
  {
    name: 'agent',
    title: 'agent: 18 % input, 72 % cache reads, 10 % output',
    units: { ...NO_UNITS, inputTokens: 900_000, cachedInputTokens: 720_000, outputTokens: 100_000 },
  },
  {
    name: 'chat',
    title: 'chat: 70 % input, 30 % output, no cache',
    units: { ...NO_UNITS, inputTokens: 700_000, outputTokens: 300_000 },
  },
  {
    name: 'no_cache',
    title: 'no cache: 90 % input, 10 % output',
    units: { ...NO_UNITS, inputTokens: 900_000, outputTokens: 100_000 },
  },
]

const CALL: Mix = {
  name: 'call',
  title: 'call: 30,000 input tokens, 80 % of them cache reads, 1,500 output tokens',
  units: {
    ...NO_UNITS,
    inputTokens: CALL_INPUT_TOKENS,
    cachedInputTokens: (CALL_INPUT_TOKENS * 80) / 100,
    outputTokens: 1_500,
  },
}

const IMAGE: Mix = { name: 'image', title: 'image: one', units: { ...NO_UNITS, images: 1 } }
const SPEECH: Mix = { name: 'speech', title: 'speech: one call', units: NO_UNITS }

/** All mixes, so that the margin tables can explain them. */
export const MIXES: readonly Mix[] = [...BY_TOKENS, CALL, IMAGE, SPEECH]

/** The mixes that apply to an entry; the first one decides whether the entry counts as sold below cost. */
export function mixesOf({ kind, price }: Pick<ModelEntry, 'kind' | 'price'>): readonly [Mix, ...Mix[]] {
  if (price.per === 'mtok') return BY_TOKENS as readonly [Mix, ...Mix[]]
  if (price.per === 'image') return [IMAGE]
  return [kind === 'speech' ? SPEECH : CALL]
}
