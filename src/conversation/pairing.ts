/**
 * Moves tool results right after their calls. All formats accept the resulting order: a turn with calls is followed by one user
 * turn that begins with the results of exactly these calls.
 */

import type { CallPart, ClientErrors, ContentPart, ResultPart, Turn } from './request.ts'

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
  const open = new Set(calls)
  const results = new Map<CallPart, ResultPart>()
  const rest: PairedTurn[] = []
  for (const turn of following) {
    for (const result of turn.parts.filter(isResult)) {
      const answered = refusals.allowsRepeatedResults ? answeredCall(results, result) : undefined
      const call = openCall(open, result) ?? answered ?? refusals.orphan(result)
      open.delete(call)
      results.set(call, joinedResult(results.get(call), result))
    }
    const others = turn.parts.filter(part => !isResult(part))
    if (others.length > 0) rest.push({ ...turn, parts: others, answers: NO_ANSWERS })
  }
  if (open.size > 0) {
    refusals.missing(
      assistant,
      [...open].map(call => call.id),
    )
  }
  const parts = [...results.values()]
  const answers = new Map([...results].map(([call, result]) => [result, call]))
  const next = rest[0]
  if (next?.role === 'user') return [{ ...next, parts: [...parts, ...next.parts], answers }, ...rest.slice(1)]
  return [{ role: 'user', parts, place: following[0]?.place ?? assistant.place, answers }, ...rest]
}

/**
 * Finds the unanswered call that a result belongs to: by id or, if the result has no id, by function name. A result with
 * neither belongs to the first unanswered call.
 */
function openCall(open: ReadonlySet<CallPart>, result: ResultPart): CallPart | undefined {
  const calls = [...open]
  if (result.id !== '') return calls.find(call => call.id === result.id)
  return calls.find(call => result.name === '' || call.name === result.name)
}

/** Finds the call that a result answers once more. */
function answeredCall(results: ReadonlyMap<CallPart, ResultPart>, { id }: ResultPart): CallPart | undefined {
  return id === '' ? undefined : results.keys().find(call => call.id === id)
}

/**
 * Joins two results of one call, because the messages format allows only one. Some clients announce a result first, others repeat
 * one that they had to send again.
 */
function joinedResult(first: ResultPart | undefined, second: ResultPart): ResultPart {
  if (first === undefined) return second
  const isRepeated = JSON.stringify(first.content) === JSON.stringify(second.content)
  return { ...second, content: isRepeated ? second.content : [...first.content, ...second.content] }
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
