/** Writes random tool calls as streams of the three formats. */

import fc from 'fast-check'

/** A piece of a call's arguments. Calls may interleave, get more pieces after they have ended, and repeat their names. */
interface CallPiece {
  readonly call: number
  readonly fragment: string
  readonly hasIndex: boolean
  readonly isNamed: boolean
  /** In chat streams, a call whose first piece comes late gets its id with a later piece, or never. */
  readonly isLate: boolean
}

export const callPieces = fc.array(
  fc.record({
    call: fc.nat(2),
    fragment: fc.constantFrom('{', '{}', '"a":', '"é\\ud83d', '\\ude00"', '1', ',', '}', '{"a":{}}', ' ', '\n'),
    hasIndex: fc.boolean(),
    isNamed: fc.boolean(),
    isLate: fc.nat(3).map(number => number === 0),
  }),
  { minLength: 1, maxLength: 30 },
)

export function chatCalls(pieces: readonly CallPiece[]): Buffer {
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const pieceOf = ({ call, fragment, hasIndex, isNamed, isLate }: CallPiece) => ({
    ...(hasIndex && { index: call }),
    ...(isNamed && !isLate && { id: `call_${call}`, type: 'function' }),
    function: { ...(isNamed && { name: `tool_${call}` }), arguments: fragment },
  })
  const begun = new Set<number>()
  const events = pieces.map(piece => {
    const begins = !begun.has(piece.call)
    begun.add(piece.call)
    const told = begins ? { ...piece, hasIndex: true, isNamed: true } : { ...piece, isLate: false }
    return chunk({ tool_calls: [pieceOf(told)] })
  })
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
  const last = [chunk({}, 'tool_calls'), `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`]
  return Buffer.from([...events, ...last, 'data: [DONE]\n\n'].join(''))
}

export function messagesCalls(pieces: readonly CallPiece[]): Buffer {
  const event = (data: { readonly type: string; readonly [member: string]: unknown }) =>
    `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`
  const begin = (index: number) => {
    const block = { type: 'tool_use', id: `toolu_${index}`, name: `tool_${index}`, input: {} }
    return event({ type: 'content_block_start', index, content_block: block })
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    usage: { input_tokens: 1 },
  }
  const begun = new Set<number>()
  return Buffer.from(
    [
      event({ type: 'message_start', message }),
      ...pieces.map(({ call, fragment }) => {
        const begins = !begun.has(call)
        begun.add(call)
        const delta = { type: 'input_json_delta', partial_json: fragment }
        return (begins ? begin(call) : '') + event({ type: 'content_block_delta', index: call, delta })
      }),
      ...[...begun].map(index => event({ type: 'content_block_stop', index })),
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ].join(''),
  )
}

/**
 * Writes calls as a responses stream. Before each piece that repeats its call's name, an event declares the arguments complete,
 * although more follow.
 */
export function responsesCalls(pieces: readonly CallPiece[]): Buffer {
  let number = 0
  const event = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...members })}\n\n`
  const whole = new Map<number, string>()
  const item = (call: number, isDone: boolean) => ({
    output_index: call,
    item: {
      id: `fc_${call}`,
      type: 'function_call',
      call_id: `call_${call}`,
      name: `tool_${call}`,
      arguments: isDone ? whole.get(call) : '',
    },
  })
  const events = pieces.flatMap(({ call, fragment, hasIndex, isNamed }) => {
    const known = whole.get(call)
    const at = { item_id: `fc_${call}`, ...(hasIndex && { output_index: call }) }
    whole.set(call, (known ?? '') + fragment)
    return [
      ...(known === undefined ? [event('response.output_item.added', item(call, false))] : []),
      ...(known !== undefined && isNamed
        ? [event('response.function_call_arguments.done', { ...at, arguments: known })]
        : []),
      event('response.function_call_arguments.delta', { ...at, delta: fragment, obfuscation: 'x'.repeat(number % 5) }),
    ]
  })
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const done = [...whole.keys()].map(call => event('response.output_item.done', item(call, true)))
  const response = { id: 'resp_1', status: 'completed', output: [], usage }
  return Buffer.from([...events, ...done, event('response.completed', { response })].join(''))
}
