/**
 * Groups input items into turns. The responses format has no turns; its clients may put messages between calls and their
 * outputs, or omit outputs. The other formats require that the calls of a turn are answered in the next turn.
 */

import { isCall } from '../../conversation/pairing.ts'
import { refuse } from '../../conversation/refuse.ts'
import type { ClientErrors, ContentPart, ResultPart, Turn } from '../../conversation/request.ts'
import type { JsonObject } from '../../lib/json.ts'
import { type ItemReading, type Piece, readItem } from './read-input.ts'

const NO_OUTPUT = 'The output of this call is not known.'

/**
 * Reads `instructions` and `input`. Throws GatewayError `invalid_request` if `input` is empty, or holds content that cannot be
 * converted.
 */
export function readTurns(body: JsonObject, reading: ItemReading): Turn[] {
  return [...readInstructions(body, reading), ...inOrder(readInput(body, reading))]
}

function readInstructions({ instructions }: JsonObject, reading: ItemReading): Turn[] {
  if (typeof instructions === 'string') {
    return instructions === '' ? [] : [{ role: 'system', parts: [text(instructions)], place: 'instructions' }]
  }
  const items = Array.isArray(instructions) ? instructions : []
  return items.flatMap((item, index): Turn[] => {
    const place = `instructions[${index}]`
    return readItem(item, place, reading).map(piece =>
      piece.by !== 'tool' && piece.parts.every(part => part.kind === 'text')
        ? { role: 'system', parts: piece.parts, place }
        : refuse(place, 'expected a text message'),
    )
  })
}

function readInput({ input }: JsonObject, reading: ItemReading): Piece[] {
  if (typeof input === 'string' && input !== '') return [{ by: 'user', parts: [text(input)], place: 'input' }]
  if (!Array.isArray(input) || input.length === 0) refuse('input', 'expected a string or a list with at least one item')
  return input.flatMap((item, index) => readItem(item, `input[${index}]`, reading))
}

/**
 * Joins consecutive model output into one turn. The outputs of its calls follow in the next turn, wherever the client put them.
 * A note stands in for a missing output; an output without a call becomes text.
 */
function inOrder(pieces: readonly Piece[]): Turn[] {
  const outputs = new UnmatchedOutputs(pieces)
  const turns: Turn[] = []
  let open: { readonly parts: ContentPart[]; readonly place: string } | null = null
  const close = (): void => {
    if (open === null) return
    const { parts, place } = open
    turns.push({ role: 'assistant', parts, place })
    const results = parts.filter(isCall).map(call => outputs.take(call.id) ?? missing(call.id, place))
    if (results.length > 0) turns.push({ role: 'user', parts: results, place: results[0]!.place })
    open = null
  }
  for (const piece of pieces) {
    if (piece.by === 'assistant') {
      open ??= { parts: [], place: piece.place }
      // A gap keeps the texts of two messages apart.
      if (open.parts.at(-1)?.kind === 'text' && piece.parts[0]?.kind === 'text') open.parts.push({ kind: 'gap' })
      open.parts.push(...piece.parts)
      continue
    }
    close()
    if (piece.by !== 'tool') turns.push({ role: piece.by, parts: piece.parts, place: piece.place })
    else if (outputs.isLeft(piece.result)) turns.push(orphan(outputs.take(piece.result.id)!))
  }
  close()
  return turns
}

/** The outputs that are not matched with a call yet, by call id and in their original order. */
class UnmatchedOutputs {
  readonly #results = new Map<string, ResultPart[]>()

  constructor(pieces: readonly Piece[]) {
    for (const piece of pieces) {
      if (piece.by !== 'tool') continue
      const { result } = piece
      const others = this.#results.get(result.id)
      if (others === undefined) this.#results.set(result.id, [result])
      else others.push(result)
    }
  }

  take(id: string): ResultPart | undefined {
    return this.#results.get(id)?.shift()
  }

  isLeft(result: ResultPart): boolean {
    return this.#results.get(result.id)?.[0] === result
  }
}

function missing(id: string, place: string): ResultPart {
  return { kind: 'result', id, name: '', content: [text(NO_OUTPUT)], isError: true, place }
}

function orphan({ id, content, place }: ResultPart): Turn {
  return { role: 'user', parts: [text(`Output of the tool call ${id}:`), ...content], place }
}

function text(value: string) {
  return { kind: 'text', text: value } as const
}

/**
 * Reports errors in OpenAI's own wording. `ClientErrors` requires the methods, but nothing calls them, because `readTurns`
 * leaves no call or output unmatched.
 */
export const responsesErrors: ClientErrors = {
  stopField: 'stop',
  allowsRepeatedResults: true,
  missing(turn, [id = '']) {
    refuse(turn.place, `No tool output found for function call ${id}.`)
  },
  orphan(result) {
    refuse(result.place, `No tool call found for function call output with call_id ${result.id}.`)
  },
}
