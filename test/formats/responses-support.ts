/**
 * Helpers for tests of the responses format: options for its writers, scripted replies, and SDK clients with a stubbed `fetch`.
 */

import { createOpenAI } from '@ai-sdk/openai'
import OpenAI from 'openai'
import type { Seal } from '../../src/conversation/envelope.ts'
import { makeEnvelopeSigner } from '../../src/conversation/envelope.ts'
import type { WriterFacts } from '../../src/conversation/format.ts'
import { envelopePayload } from '../../src/conversation/reasoning-envelope.ts'
import type {
  FoldedPart,
  FoldedReply,
  PartStart,
  ReplySink,
  ReplyWriter,
  StopReason,
} from '../../src/conversation/reply.ts'
import type { TokenUsage } from '../../src/conversation/usage.ts'
import type { ClientTool, ResponsesEcho } from '../../src/formats/responses/echo.ts'
import { decodeText } from '../../src/lib/byte-text.ts'
import type { JsonObject } from '../../src/lib/json.ts'

export const USAGE: TokenUsage = {
  inputTokens: 100,
  cachedInputTokens: 60,
  cacheWriteTokens: 30,
  outputTokens: 42,
  reasoningTokens: 20,
}

export const SIGNER = makeEnvelopeSigner({ currentId: 1, secrets: new Map([[1, Buffer.alloc(32, 7)]]) }, 'account-1')

export function factsOf(overrides: Partial<WriterFacts> = {}): WriterFacts {
  let made = 0
  return {
    clientModel: 'client-model',
    newId: () => `n${made++}`,
    nowSeconds: 1_790_000_000,
    clock: () => 1_790_000_009,
    countInputTokens: () => 7,
    wrapSeal: (seal, lengths) => SIGNER.wrap(envelopePayload(seal, 'here', lengths)),
    wrapJson: json => SIGNER.wrapJson(json),
    usageSoFar: () => null,
    ...overrides,
  }
}

export const FIELDS: JsonObject = {
  instructions: 'Be brief.',
  max_output_tokens: null,
  metadata: {},
  parallel_tool_calls: true,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  temperature: 1,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [{ type: 'function', name: 'look_up', parameters: {}, strict: false }],
  top_p: 1,
  truncation: 'disabled',
  user: null,
}

export const TOOLS: ReadonlyMap<string, ClientTool> = new Map([
  ['look_up', { kind: 'function', name: 'look_up', namespace: null }],
  ['mcp__files__read', { kind: 'function', name: 'read', namespace: 'mcp__files' }],
  ['apply_patch', { kind: 'custom', name: 'apply_patch', namespace: null }],
  ['functions__exec', { kind: 'custom', name: 'exec', namespace: 'functions' }],
  ['tool_search', { kind: 'tool_search', name: 'tool_search', namespace: null }],
])

export function echoOf(overrides: Partial<ResponsesEcho> = {}): ResponsesEcho {
  return { tools: TOOLS, fields: FIELDS, refersToItems: false, callIds: new Set(), ...overrides }
}

/** One method call on a `ReplyWriter`, as data. A list of steps scripts a reply. */
export type Step =
  | { readonly do: 'open'; readonly part: PartStart }
  | { readonly do: 'delta'; readonly text: string }
  | { readonly do: 'startSection' }
  | { readonly do: 'close'; readonly seal?: Seal | null }

export function part(kind: 'text' | 'refusal' | 'reasoning', ...texts: string[]): Step[] {
  return [open({ kind }), ...texts.map(delta), { do: 'close' }]
}

export function call(name: string, id: string, ...pieces: string[]): Step[] {
  return [open({ kind: 'call', id, name, signature: null }), ...pieces.map(delta), { do: 'close' }]
}

export function open(start: PartStart): Step {
  return { do: 'open', part: start }
}

export function delta(text: string): Step {
  return { do: 'delta', text }
}

export function tell(sink: ReplySink, steps: readonly Step[]): void {
  sink.start()
  for (const step of steps) {
    if (step.do === 'open') sink.open(step.part)
    else if (step.do === 'delta') sink.delta(step.text)
    else if (step.do === 'startSection') sink.startSection()
    else sink.close(step.seal)
  }
}

/** Writes a complete stream and returns its text. */
export function written(writer: ReplyWriter, steps: readonly Step[], stopReason: StopReason = 'end_turn'): string {
  tell(writer, steps)
  return decodeText(writer.take()) + decodeText(writer.end(stopReason, USAGE))
}

export function folded(steps: readonly Step[], stopReason: StopReason = 'end_turn'): FoldedReply {
  const parts: FoldedPart[] = []
  let start: PartStart = { kind: 'text' }
  let texts: string[] = []
  for (const step of steps) {
    if (step.do === 'open') [start, texts] = [step.part, ['']]
    else if (step.do === 'delta') texts[texts.length - 1] += step.text
    else if (step.do === 'startSection') texts.push('')
    else if (start.kind === 'call') parts.push({ ...start, arguments: texts.join('') })
    else if (start.kind === 'reasoning') parts.push({ kind: 'reasoning', texts, seal: step.seal ?? null })
    else parts.push({ kind: start.kind, text: texts.join('') })
  }
  return { parts, stopReason, usage: USAGE }
}

function answer(body: string, contentType: string): typeof fetch {
  return async () => new Response(body, { status: 200, headers: { 'content-type': contentType } })
}

/** Returns the response that the openai SDK accumulates from a stream. Rejects if the SDK rejects. */
export async function readByOpenAi(sse: string) {
  const client = new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: answer(sse, 'text/event-stream') })
  return client.responses.stream({ model: 'client-model', input: 'hi' }).finalResponse()
}

/** Returns the parts that the AI SDK reads from a stream. */
export async function readByAiSdk(sse: string) {
  const model = createOpenAI({ apiKey: 'k', fetch: answer(sse, 'text/event-stream') }).responses('client-model')
  const { stream } = await model.doStream({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] })
  const parts = []
  for await (const each of stream) parts.push(each)
  return parts
}

/** Returns what the AI SDK reads from a non-streamed reply. */
export async function readWholeByAiSdk(response: JsonObject) {
  const fetch = answer(JSON.stringify(response), 'application/json')
  const model = createOpenAI({ apiKey: 'k', fetch }).responses('client-model')
  return model.doGenerate({ prompt: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }] })
}
