/**
 * Moves tool results right after their calls. All formats accept the resulting order: a turn with calls is followed by one user
 * turn that begins with the results of exactly these calls.
 */

import type { CallPart, ClientErrors, ContentPart, ResultPart, Turn } from './request.ts'

type PairingRefusals = Pick<ClientErrors, 'missing' | 'orphan'>

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
  const answers = new Map<ResultPart, CallPart>()
  const rest: PairedTurn[] = []
  for (const turn of following) {
    for (const result of turn.parts.filter(isResult)) {
      const call = openCall(open, result) ?? refusals.orphan(result)
      open.delete(call)
      answers.set(result, call)
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
  const results: ContentPart[] = [...answers.keys()]
  const next = rest[0]
  if (next?.role === 'user') return [{ ...next, parts: [...results, ...next.parts], answers }, ...rest.slice(1)]
  return [{ role: 'user', parts: results, place: following[0]?.place ?? assistant.place, answers }, ...rest]
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
