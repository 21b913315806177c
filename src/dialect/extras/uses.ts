/** Counts uses of priced tools in an upstream's replies, streamed or not. */

import { firstCount } from '../../conversation/usage.ts'
import type { ExtraUse } from '../../generated/types.ts'
import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOrNull,
  textOrNull,
} from '../../lib/json.ts'
import { looksLike, type SoldTool } from './plan.ts'

/** Maximum number of uses that a call can plausibly have. Larger figures must be a provider's mistake. */
const USES_MAX = 10_000

/** Uses found so far in one of the places where replies report a tool's uses. */
interface Tally {
  readonly use: ExtraUse
  /** The provider's own cumulative figure; null if it reports none. */
  reported: number | null
  /** Ids of the uses found one by one. */
  readonly seen: Set<string>
}

export class UseCounter {
  readonly #tools: readonly { readonly sold: SoldTool; readonly tallies: readonly Tally[] }[]

  constructor(sold: readonly SoldTool[]) {
    this.#tools = sold.map(tool => ({
      sold: tool,
      tallies: tool.uses.map(use => ({ use, reported: null, seen: new Set<string>() })),
    }))
  }

  /**
   * Counts the uses of priced extras in a non-streamed reply or in one event of a stream. Repeated items are counted only once.
   */
  see(value: JsonValue | undefined): void {
    if (!isObject(value)) return
    for (const { tallies } of this.#tools) for (const tally of tallies) note(value, tally)
  }

  /** Number of uses per tool. Unused tools are missing. */
  get uses(): ReadonlyMap<string, number> {
    const counted = this.#tools.map(({ sold, tallies }) => [sold.name, usesOf(tallies)] as const)
    return new Map(counted.filter(([, uses]) => uses > 0))
  }

  /** Price of all uses in whole VND. */
  get vnd(): number {
    return this.#tools.reduce((sum, { sold, tallies }) => sum + sold.vnd * usesOf(tallies), 0)
  }
}

/** Returns the number of uses. The tallies may describe the same uses, so the first that found anything decides. */
function usesOf(tallies: readonly Tally[]): number {
  const telling = tallies.find(({ reported, seen }) => reported !== null || seen.size > 0)
  return Math.min(telling?.reported ?? telling?.seen.size ?? 0, USES_MAX)
}

function note(value: JsonObject, tally: Tally): void {
  const { usage, item, call, annotation } = tally.use
  if (usage !== undefined) {
    // Streams report preliminary usage first, so keep the largest figure.
    for (const root of [value, objectOrNull(value.response)]) {
      if (root === null) continue
      const count = firstCount(atPointer(root.usage, usage), atPointer(root, usage))
      if (count !== null) tally.reported = Math.max(tally.reported ?? 0, count)
    }
  } else if (item !== undefined) {
    for (const [place, each] of itemsOf(value)) if (looksLike(each, [item])) tally.seen.add(idOf(each, place))
  } else if (call !== undefined) {
    for (const [place, each] of callsOf(value)) {
      if (objectOrNull(objectOrNull(each)?.function)?.name === call) tally.seen.add(idOf(each, place))
    }
  } else if (annotation !== undefined) {
    const isThere = messagesOf(value).some(message =>
      arrayOrEmpty(message.annotations).some(each => objectOrNull(each)?.type === annotation),
    )
    if (isThere) tally.seen.add(annotation)
  }
}

/**
 * Returns output items, each with its output index (as a string). `value` is a non-streamed reply, the last event of a
 * response, or an event with a single item.
 */
function itemsOf(value: JsonObject): [place: string, item: JsonValue][] {
  const output = objectOrNull(value.response)?.output ?? value.output ?? value.content
  const listed = arrayOrEmpty(output).map((item, index): [string, JsonValue] => [String(index), item])
  const isDone = typeof value.type === 'string' && value.type.endsWith('.done')
  if (isDone && isObject(value.item)) listed.push([String(value.output_index), value.item])
  if (isObject(value.content_block)) listed.push([String(value.index), value.content_block])
  return listed
}

function messagesOf(value: JsonObject): JsonObject[] {
  return arrayOrEmpty(value.choices).flatMap(choice => {
    const message = objectOrNull(choice)?.message ?? objectOrNull(choice)?.delta
    return isObject(message) ? [message] : []
  })
}

function callsOf(value: JsonObject): [place: string, call: JsonValue][] {
  return messagesOf(value).flatMap((message, choice) =>
    arrayOrEmpty(message.tool_calls).map((call, index): [string, JsonValue] => [`${choice} ${index}`, call]),
  )
}

function idOf(value: JsonValue, place: string): string {
  return (isObject(value) ? textOrNull(value.id) : null) ?? `at ${place}`
}
