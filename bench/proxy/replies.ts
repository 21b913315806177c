/**
 * Builds the replies of the bench's upstream as bytes: complete replies like those that agents get, and streams cut into the
 * chunks that a provider would write.
 */

import { chatStreamText, messagesStreamText, responsesStreamText } from '../streams.ts'
import { callArguments, prose } from './conversation.ts'
import { FORMATS, type Format, PATHS } from './formats.ts'

/** How the upstream answers calls. */
export interface Pace {
  readonly streamed: boolean
  /** Number of deltas in a stream, not counting its other events. */
  readonly events: number
  /** Pause between two events. 0: as fast as the socket accepts; null: the stream stays open after its first events. */
  readonly pauseMs: number | null
  /** Length of the text in a complete reply. */
  readonly textBytes: number
  /** Number of tool calls in a complete reply. */
  readonly calls: number
}

export interface Reply {
  readonly path: string
  readonly segments: readonly Buffer[]
  readonly pauseMs: number
}

/** Events per write in a stream without pauses. */
const BURST = 64
/** Number of events sent on a stream that then stays open. */
const OPEN_EVENTS = 4

export function makeReplies(pace: Pace): Reply[] {
  const pauseMs = pace.pauseMs ?? 0
  return FORMATS.map(format => {
    const segments = pace.streamed ? streamOf(format, pace) : [wholeOf(format, pace)]
    return { path: PATHS[format], segments, pauseMs }
  })
}

/**
 * Writes replies in the file format that both implementations of the upstream read: `reply PATH SEGMENTS PAUSE_MS`, then each
 * segment as a line with its size, followed by its bytes.
 */
export function replyFile(replies: readonly Reply[]): Buffer {
  return Buffer.concat(
    replies.flatMap(({ path, segments, pauseMs }) => [
      Buffer.from(`reply ${path} ${segments.length} ${pauseMs}\n`),
      ...segments.flatMap(segment => [Buffer.from(`${segment.length}\n`), segment]),
    ]),
  )
}

export function repliesOf(file: Buffer): Reply[] {
  const replies: Reply[] = []
  let at = 0
  const line = () => {
    const end = file.indexOf('\n', at)
    const text = file.toString('latin1', at, end)
    at = end + 1
    return text
  }
  while (at < file.length) {
    const [, path = '', count, pauseMs] = line().split(' ')
    const segments = Array.from({ length: Number(count) }, () => {
      const bytes = Number(line())
      at += bytes
      return file.subarray(at - bytes, at)
    })
    replies.push({ path, segments, pauseMs: Number(pauseMs) })
  }
  return replies
}

/** Cuts a stream into writes. Each event is an HTTP chunk of its own, because providers flush after each event. */
function streamOf(format: Format, { events, pauseMs }: Pace): Buffer[] {
  const text = {
    messages: () => messagesStreamText('text', events),
    chat: () => chatStreamText('text', events),
    responses: () => responsesStreamText('text', events),
  }[format]()
  const frames = text.split(/(?<=\n\n)/).map(httpChunk)
  const head = Buffer.from(
    'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: keep-alive\r\n\r\n',
  )
  if (pauseMs === null) return [Buffer.concat([head, ...frames.slice(0, OPEN_EVENTS)])]
  const perWrite = pauseMs === 0 ? BURST : 1
  const writes = Array.from({ length: Math.ceil(frames.length / perWrite) }, (_, index) =>
    Buffer.concat(frames.slice(index * perWrite, (index + 1) * perWrite)),
  )
  return [head, ...writes.slice(0, -1), Buffer.concat([writes.at(-1) ?? Buffer.alloc(0), Buffer.from('0\r\n\r\n')])]
}

function httpChunk(event: string): Buffer {
  const bytes = Buffer.from(event)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}

function wholeOf(format: Format, pace: Pace): Buffer {
  const body = JSON.stringify(wholeBody(format, pace))
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n` +
      `connection: keep-alive\r\n\r\n${body}`,
  )
}

function wholeBody(format: Format, { textBytes, calls: count }: Pace): object {
  const text = prose(textBytes)
  const calls = Array.from({ length: count }, (_, index) => ({
    id: `call_r${index}`,
    name: 'read_file',
    input: callArguments(index),
  }))
  const tokens = { input: 2_400, output: Math.ceil(textBytes / 3) + 40 * count }
  switch (format) {
    case 'messages':
      return {
        id: 'msg_01bench',
        type: 'message',
        role: 'assistant',
        model: 'upstream-model',
        content: [
          { type: 'text', text },
          ...calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input })),
        ],
        stop_reason: count > 0 ? 'tool_use' : 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: tokens.input,
          cache_creation_input_tokens: 0,
          cache_read_input_tokens: 1_800,
          output_tokens: tokens.output,
        },
      }
    case 'chat':
      return {
        id: 'chatcmpl-bench',
        object: 'chat.completion',
        created: 1_790_000_000,
        model: 'upstream-model',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: text,
              refusal: null,
              ...(count > 0 && {
                tool_calls: calls.map(({ id, name, input }) => {
                  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
                }),
              }),
            },
            logprobs: null,
            finish_reason: count > 0 ? 'tool_calls' : 'stop',
          },
        ],
        usage: {
          prompt_tokens: tokens.input,
          completion_tokens: tokens.output,
          total_tokens: tokens.input + tokens.output,
          prompt_tokens_details: { cached_tokens: 1_800 },
        },
      }
    case 'responses':
      return {
        id: 'resp_bench',
        object: 'response',
        created_at: 1_790_000_000,
        status: 'completed',
        error: null,
        incomplete_details: null,
        model: 'upstream-model',
        output: [
          {
            id: 'msg_bench',
            type: 'message',
            status: 'completed',
            role: 'assistant',
            content: [{ type: 'output_text', annotations: [], logprobs: [], text }],
          },
          ...calls.map(({ id, name, input }) => {
            return {
              id: `fc_${id}`,
              type: 'function_call',
              status: 'completed',
              call_id: id,
              name,
              arguments: JSON.stringify(input),
            }
          }),
        ],
        parallel_tool_calls: true,
        store: false,
        tool_choice: 'auto',
        tools: [],
        usage: {
          input_tokens: tokens.input,
          input_tokens_details: { cached_tokens: 1_800 },
          output_tokens: tokens.output,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: tokens.input + tokens.output,
        },
      }
  }
}
