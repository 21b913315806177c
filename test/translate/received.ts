/**
 * Reads the reply that a client received into a form that is the same for all formats, so that tests can compare conversions.
 */

import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts'
import type { Wire } from './conversions.ts'
import { type ClientEvent, readEvents } from './grammar.ts'

export interface ReceivedReply {
  /** Pieces of reasoning, and texts that the model wrote apart, are joined as paragraphs. */
  readonly reasoning: string
  readonly text: string
  /** Name and input of each call: its arguments, or its text if it is free-form. */
  readonly calls: readonly (readonly [name: string, input: unknown])[]
  readonly stop: 'end' | 'length' | 'calls' | 'refusal'
  readonly tokens: readonly [input: number, output: number]
}

export function received(format: Wire, sse: string): ReceivedReply {
  return READERS[format](readEvents(sse))
}

/** What a client reads from a non-streamed reply. */
export function receivedWhole(format: Wire, reply: JsonObject): ReceivedReply {
  return READERS[format](asEvents(format, reply).map(data => ({ name: '', data })))
}

/** Writes a non-streamed reply as the events that this file reads. */
function asEvents(format: Wire, reply: JsonObject): JsonObject[] {
  switch (format) {
    case 'messages':
      return [
        { type: 'message_start', message: reply },
        ...arrayOrEmpty(reply.content).flatMap(blockEvents),
        {
          type: 'message_delta',
          delta: { stop_reason: reply.stop_reason ?? null, stop_details: reply.stop_details ?? null },
          usage: reply.usage ?? null,
        },
      ]
    case 'chat':
      return [{ ...reply, choices: arrayOrEmpty(reply.choices).filter(isObject).map(choiceEvent) }]
    case 'responses':
      return [
        ...arrayOrEmpty(reply.output).filter(isObject).flatMap(itemEvents),
        { type: `response.${reply.status}`, response: reply },
      ]
  }
}

function blockEvents(block: JsonValue, index: number): JsonObject[] {
  if (!isObject(block)) return []
  const delta: JsonObject =
    block.type === 'tool_use'
      ? { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      : { ...block, type: `${block.type}_delta` }
  return [
    { type: 'content_block_start', index, content_block: block },
    { type: 'content_block_delta', index, delta },
  ]
}

function choiceEvent({ message, ...choice }: JsonObject): JsonObject {
  const { tool_calls, ...rest } = isObject(message) ? message : {}
  const calls = arrayOrEmpty(tool_calls).filter(isObject)
  return { ...choice, delta: { ...rest, tool_calls: calls.map((call, index) => ({ ...call, index })) } }
}

function itemEvents(item: JsonObject): JsonObject[] {
  const parts = [...arrayOrEmpty(item.summary), ...arrayOrEmpty(item.content)].filter(isObject)
  const names: Record<string, string> = { summary_text: 'reasoning_summary_text' }
  const events = parts.map(part => ({ ...part, type: `response.${names[String(part.type)] ?? part.type}.done` }))
  return [...events, { type: 'response.output_item.done', item }]
}

const READERS: Readonly<Record<Wire, (events: readonly ClientEvent[]) => ReceivedReply>> = {
  messages: readMessages,
  chat: readChat,
  responses: readResponses,
}

function readMessages(events: readonly ClientEvent[]): ReceivedReply {
  const blocks: { readonly block: Anthropic.ContentBlock; text: string }[] = []
  let usage: Partial<Anthropic.Usage> = {}
  let stop: string | null = null
  let explanation = ''
  for (const event of events.map(({ data }) => data as unknown as Anthropic.RawMessageStreamEvent)) {
    if (event.type === 'message_start') usage = event.message.usage
    if (event.type === 'content_block_start') blocks[event.index] = { block: event.content_block, text: '' }
    if (event.type === 'content_block_delta') blocks[event.index]!.text += textIn(event.delta)
    if (event.type !== 'message_delta') continue
    stop = event.delta.stop_reason
    explanation = event.delta.stop_details?.explanation ?? ''
    const told = Object.entries(event.usage).filter(([, tokens]) => tokens !== null)
    usage = { ...usage, ...Object.fromEntries(told) }
  }
  const textsOf = (type: string) => blocks.filter(({ block }) => block.type === type).map(block => block.text)
  const stops = { end_turn: 'end', max_tokens: 'length', tool_use: 'calls', refusal: 'refusal' } as const
  return {
    reasoning: textsOf('thinking').join('\n\n'),
    text: `${textsOf('text').join('\n\n')}${explanation}`,
    calls: blocks.flatMap(({ block, text }) =>
      block.type === 'tool_use' ? [[block.name, parsed(text)] as const] : [],
    ),
    stop: stops[stop as unknown as keyof typeof stops],
    tokens: [
      (usage.input_tokens ?? 0) + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
      usage.output_tokens ?? 0,
    ],
  }
}

function textIn(delta: Anthropic.RawContentBlockDelta): string {
  if (delta.type === 'text_delta') return delta.text
  if (delta.type === 'thinking_delta') return delta.thinking
  return delta.type === 'input_json_delta' ? delta.partial_json : ''
}

/** A delta with the fields that some providers add. */
type Delta = OpenAI.ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string | null }

function readChat(events: readonly ClientEvent[]): ReceivedReply {
  const calls: { readonly name: string; text: string }[] = []
  let [text, reasoning, refusal, stop] = ['', '', '', '']
  let usage: OpenAI.CompletionUsage | null = null
  for (const chunk of events.map(({ data }) => data as unknown as OpenAI.ChatCompletionChunk)) {
    usage = chunk.usage ?? usage
    const choice = chunk.choices[0]
    const delta: Delta = choice?.delta ?? {}
    stop = choice?.finish_reason ?? stop
    text += delta.content ?? ''
    reasoning += delta.reasoning_content ?? ''
    refusal += delta.refusal ?? ''
    for (const call of delta.tool_calls ?? []) {
      calls[call.index] ??= { name: call.function?.name ?? '', text: '' }
      calls[call.index]!.text += call.function?.arguments ?? ''
    }
  }
  const stops = { stop: 'end', length: 'length', tool_calls: 'calls', content_filter: 'refusal' } as const
  const { prompt_tokens = 0, total_tokens = 0 } = usage ?? {}
  return {
    reasoning,
    text: `${text}${refusal}`,
    calls: calls.map(call => [call.name, parsed(call.text)]),
    stop: refusal === '' ? stops[stop as keyof typeof stops] : 'refusal',
    // Some providers count reasoning in the total only.
    tokens: [prompt_tokens, total_tokens - prompt_tokens],
  }
}

/** Reads the events of output items, as streaming clients do; status and usage come from the response at the end. */
function readResponses(events: readonly ClientEvent[]): ReceivedReply {
  const calls: [string, unknown][] = []
  const reasoning: string[] = []
  const texts: string[] = []
  let refusal = ''
  let end: OpenAI.Responses.Response | null = null
  for (const event of events.map(({ data }) => data as unknown as OpenAI.Responses.ResponseStreamEvent)) {
    if (event.type === 'response.output_text.done') texts.push(event.text)
    if (event.type === 'response.refusal.done') refusal += event.refusal
    if (event.type === 'response.reasoning_summary_text.done') reasoning.push(event.text)
    if (event.type === 'response.reasoning_text.done') reasoning.push(event.text)
    if (event.type === 'response.output_item.done') {
      const { item } = event
      if (item.type === 'function_call') calls.push([item.name, parsed(item.arguments)])
      if (item.type === 'custom_tool_call') calls.push([item.name, item.input])
    }
    if (event.type === 'response.completed' || event.type === 'response.incomplete') end = event.response
  }
  const reason = end?.incomplete_details?.reason
  const refuses = refusal !== '' || reason === 'content_filter'
  return {
    reasoning: reasoning.join('\n\n'),
    text: `${texts.join('\n\n')}${refusal}`,
    calls,
    stop: reason === 'max_output_tokens' ? 'length' : refuses ? 'refusal' : calls.length > 0 ? 'calls' : 'end',
    tokens: [end?.usage?.input_tokens ?? 0, end?.usage?.output_tokens ?? 0],
  }
}

function parsed(text: string): unknown {
  return JSON.parse(text || '{}')
}
