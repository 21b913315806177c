/**
 * Moves tool results right after their calls. All formats accept the resulting order: a turn with calls is followed by one user
 * turn that begins with the results of exactly these calls.
 */

import type { CallPart, ClientErrors, ContentPart, ResultContent, ResultPart, Turn } from './request.ts'

type PairingRefusals = Pick<ClientErrors, 'missing' | 'orphan' | 'allowsRepeatedResults'>

/**
 * A turn that maps each tool result to its call. Ids cannot identify the calls, because they may repeat within a conversation.
 */
export interface PairedTurn extends Turn {
  /** The call that each result in `parts` answers. */
  readonly answers: ReadonlyMap<ResultPart, CallPart>
}

const NO_ANSWERS: ReadonlyMap<ResultPart, CallPart> = new Map()

export function pairResults(turns: readonly Turn[], refusals: PairingRefusals): PairedTurn[] {
  const paired: PairedTurn[] = []
  let index = 0
  while (index < turns.length) {
    const turn = turns[index]!
    index += 1
    if (turn.role !== 'assistant') {
      refuseResults(turn, refusals)
      paired.push({ ...turn, answers: NO_ANSWERS })
      continue
    }
    const parts = [...turn.parts]
    // Merge consecutive assistant turns: their calls are answered together.
    while (parts.some(isCall) && turns[index]?.role === 'assistant') {
      parts.push(...turns[index]!.parts)
      index += 1
    }
    const assistant = { ...turn, parts, answers: NO_ANSWERS }
    paired.push(assistant)
    const calls = parts.filter(isCall)
    if (calls.length === 0) continue
    const following: Turn[] = []
    while (index < turns.length && turns[index]!.role !== 'assistant') {
      following.push(turns[index]!)
      index += 1
    }
    paired.push(...withResultsFirst(assistant, { calls, following }, refusals))
  }
  return paired
}

interface Exchange {
  readonly calls: readonly CallPart[]
  readonly following: readonly Turn[]
}

function withResultsFirst(assistant: Turn, { calls, following }: Exchange, refusals: PairingRefusals): PairedTurn[] {
  const open = new OpenCalls(calls)
  const results = new Map<CallPart, ResultPart>()
  const answeredById = new Map<string, CallPart>()
  const rest: PairedTurn[] = []
  for (const turn of following) {
    for (const result of turn.parts.filter(isResult)) {
      const answered = refusals.allowsRepeatedResults ? answeredById.get(result.id) : undefined
      const call = open.take(result) ?? answered ?? refusals.orphan(result)
      if (call.id !== '' && !answeredById.has(call.id)) answeredById.set(call.id, call)
      const first = results.get(call)
      results.set(call, first === undefined ? result : joinedResult(first, result))
    }
    const others = turn.parts.filter(part => !isResult(part))
    if (others.length > 0) rest.push({ ...turn, parts: others, answers: NO_ANSWERS })
  }
  const missing = open.left.map(call => call.id)
  if (missing.length > 0) refusals.missing(assistant, missing)
  const parts = [...results.values()]
  const answers = new Map([...results].map(([call, result]) => [result, call]))
  const next = rest[0]
  if (next?.role === 'user') return [{ ...next, parts: [...parts, ...next.parts], answers }, ...rest.slice(1)]
  return [{ role: 'user', parts, place: following[0]?.place ?? assistant.place, answers }, ...rest]
}

/** The calls that have no result yet. Finding one takes the same time however many there are. */
class OpenCalls {
  readonly #open: Set<CallPart>
  /** The calls by id and by function name, last first. Those that have been answered meanwhile are dropped when they come up. */
  readonly #byId: ReadonlyMap<string, CallPart[]>
  readonly #byName: ReadonlyMap<string, CallPart[]>

  constructor(calls: readonly CallPart[]) {
    this.#open = new Set(calls)
    const reversed = calls.toReversed()
    this.#byId = Map.groupBy(reversed, call => call.id)
    this.#byName = Map.groupBy(reversed, call => call.name)
  }

  get left(): readonly CallPart[] {
    return [...this.#open]
  }

  /**
   * Takes the call that a result belongs to: by id or, if the result has no id, by function name. A result with neither belongs
   * to the first unanswered call.
   */
  take({ id, name }: ResultPart): CallPart | undefined {
    const call = id === '' && name === '' ? this.#open.values().next().value : this.#first(id, name)
    if (call !== undefined) this.#open.delete(call)
    return call
  }

  #first(id: string, name: string): CallPart | undefined {
    const calls = (id === '' ? this.#byName.get(name) : this.#byId.get(id)) ?? []
    for (let call = calls.pop(); call !== undefined; call = calls.pop()) if (this.#open.has(call)) return call
    return undefined
  }
}

/** Contents that were made here and can grow, however many results a call has. */
const joined = new WeakSet<readonly ResultContent[]>()

/**
 * Joins two results of one call, because the messages format allows only one. Some clients announce a result first, others repeat
 * one that they had to send again.
 */
function joinedResult(first: ResultPart, second: ResultPart): ResultPart {
  if (isSame(first.content, second.content)) return second
  const content = joined.has(first.content) ? (first.content as ResultContent[]) : [...first.content]
  for (const part of second.content) content.push(part)
  joined.add(content)
  return { ...second, content }
}

function isSame(first: readonly ResultContent[], second: readonly ResultContent[]): boolean {
  return first.length === second.length && JSON.stringify(first) === JSON.stringify(second)
}

function refuseResults(turn: Turn, refusals: PairingRefusals): void {
  const orphan = turn.parts.find(isResult)
  if (orphan !== undefined) refusals.orphan(orphan)
}

export function isCall(part: ContentPart): part is CallPart {
  return part.kind === 'call'
}

export function isResult(part: ContentPart): part is ResultPart {
  return part.kind === 'result'
}
