/**
 * Tool calls and their results side by side. Both formats refuse a conversation in which they are not, so every turn with
 * calls is followed by one user turn that begins with the results of exactly these calls.
 */

import type { CallPiece, Piece, ResultPiece, Turn } from './pieces.ts'

/** What to say of conversations that the client's own format refuses, in that format's words. Each must throw. */
export interface PairingRefusals {
  missing(turn: Turn, ids: readonly string[]): never
  orphan(result: ResultPiece): never
}

/** A result together with the very call that it answers: ids alone may repeat within a conversation. */
export interface PairedTurn extends Turn {
  /** For each result among `pieces`, the call it answers. */
  readonly answers: ReadonlyMap<ResultPiece, CallPiece>
}

const NO_ANSWERS: ReadonlyMap<ResultPiece, CallPiece> = new Map()

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
    const pieces = [...turn.pieces]
    // Calls of consecutive assistant turns are answered together, so these turns are one.
    while (pieces.some(isCall) && turns[index]?.role === 'assistant') {
      pieces.push(...turns[index]!.pieces)
      index += 1
    }
    const assistant = { ...turn, pieces, answers: NO_ANSWERS }
    paired.push(assistant)
    const calls = pieces.filter(isCall)
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
  readonly calls: readonly CallPiece[]
  readonly following: readonly Turn[]
}

function withResultsFirst(assistant: Turn, { calls, following }: Exchange, refusals: PairingRefusals): PairedTurn[] {
  const open = new Set(calls)
  const answers = new Map<ResultPiece, CallPiece>()
  const rest: PairedTurn[] = []
  for (const turn of following) {
    for (const result of turn.pieces.filter(isResult)) {
      const call = openCall(open, result) ?? refusals.orphan(result)
      open.delete(call)
      answers.set(result, call)
    }
    const others = turn.pieces.filter(piece => !isResult(piece))
    if (others.length > 0) rest.push({ ...turn, pieces: others, answers: NO_ANSWERS })
  }
  if (open.size > 0) {
    refusals.missing(
      assistant,
      [...open].map(call => call.id),
    )
  }
  const results: Piece[] = [...answers.keys()]
  const next = rest[0]
  if (next?.role === 'user') return [{ ...next, pieces: [...results, ...next.pieces], answers }, ...rest.slice(1)]
  return [{ role: 'user', pieces: results, place: following[0]?.place ?? assistant.place, answers }, ...rest]
}

/** The call that a result answers: by id, else by the function's name, else the first one left when it names neither. */
function openCall(open: ReadonlySet<CallPiece>, result: ResultPiece): CallPiece | undefined {
  const calls = [...open]
  if (result.id !== '') return calls.find(call => call.id === result.id)
  return calls.find(call => result.name === '' || call.name === result.name)
}

function refuseResults(turn: Turn, refusals: PairingRefusals): void {
  const orphan = turn.pieces.find(isResult)
  if (orphan !== undefined) refusals.orphan(orphan)
}

export function isCall(piece: Piece): piece is CallPiece {
  return piece.kind === 'call'
}

export function isResult(piece: Piece): piece is ResultPiece {
  return piece.kind === 'result'
}
