/** Reads a request in the chat completions format, once it has been checked. */

import { countPdf, countPicture, countText, describePicture } from '../count.ts'
import { wordsOf } from '../endpoint.ts'
import { isObject, type Json, type JsonObject, listOf, textOf } from '../json.ts'
import {
  DEFAULT_REASONING_TOKENS,
  invalid,
  type ModelFacts,
  type OfferedTool,
  type OutputForm,
  type Prompt,
  type PromptImage,
  type ToolChoice,
  type ToolOutcome,
} from '../model.ts'
import { formInWords } from '../task/form.ts'
import { readUserTurn, workingDirectory } from '../task/request.ts'
import { isPdf } from './check-messages.ts'

/** Number of reasoning tokens for each effort. Without an effort, a model shows no reasoning. */
const EFFORT_TOKENS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 64,
  low: 512,
  medium: 1_024,
  high: 2_048,
  xhigh: 4_096,
  max: 4_096,
}

export function readChatPrompt(body: JsonObject, facts: ModelFacts): Prompt {
  const messages = listOf(body.messages).filter(isObject)
  const spoken = messages.filter(message => message.role !== 'system' && message.role !== 'developer')
  const last = spoken.slice(spoken.findLastIndex(message => message.role === 'assistant') + 1)
  const turn = readUserTurn(textsOf(last))
  const systemTexts = messages.filter(message => !spoken.includes(message)).map(message => contentText(message.content))
  const parts = messages.flatMap(message => partsOf(message.content))
  const pictures = parts.filter(part => part.type === 'image_url' && !isPdf(part))
  const outputTokensMax = firstNumber(body.max_completion_tokens, body.max_tokens)
  const inputTokens = countInput(body, messages)
  checkWindow(inputTokens, outputTokensMax ?? 0, facts)
  const { tools, choice } = readTools(body)
  return {
    model: textOf(body.model),
    facts,
    systemText: systemTexts.join('\n'),
    ...turn,
    directory: workingDirectory([...systemTexts, ...textsOf(spoken)]),
    outcomes: readOutcomes(last, messages),
    turns: spoken.length,
    images: pictures.map(readPicture),
    documents: parts.filter(part => part.type === 'file' || isPdf(part)).length,
    tools,
    toolChoice: choice,
    parallelCalls: body.parallel_tool_calls !== false,
    outputForm: formInWords(readForm(body.response_format), [...systemTexts, turn.request]),
    reasoningTokensMax: facts.reasoning ? readReasoning(body, facts) : 0,
    outputTokensMax: outputTokensMax ?? facts.outputTokensMax,
    stopSequences:
      typeof body.stop === 'string' ? [body.stop] : listOf(body.stop).filter(stop => typeof stop === 'string'),
    inputTokens,
    words: wordsOf(turn.userText),
  }
}

function partsOf(content: Json | undefined): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).filter(isObject)
}

function contentText(content: Json | undefined): string {
  return partsOf(content)
    .map(part => textOf(part.text))
    .filter(text => text !== '')
    .join('\n')
}

/** The text of each part of the user's messages. */
function textsOf(messages: readonly JsonObject[]): string[] {
  return messages
    .filter(message => message.role === 'user')
    .flatMap(message => partsOf(message.content))
    .map(part => textOf(part.text))
}

function firstNumber(...values: (Json | undefined)[]): number | null {
  return values.find(value => typeof value === 'number') ?? null
}

function readOutcomes(last: readonly JsonObject[], all: readonly JsonObject[]): ToolOutcome[] {
  const calls = all.flatMap(message => listOf(message.tool_calls)).filter(isObject)
  return last
    .filter(message => message.role === 'tool')
    .map(message => {
      const call = calls.findLast(candidate => candidate.id === message.tool_call_id)
      const made = isObject(call?.function) ? call.function : isObject(call?.custom) ? call.custom : {}
      return { toolName: textOf(made.name), text: contentText(message.content), failed: false }
    })
}

function readPicture(part: JsonObject): PromptImage {
  const url = isObject(part.image_url) ? textOf(part.image_url.url) : ''
  const [, mediaType, base64] = /^data:([^;,]+)[^,]*,(.*)$/s.exec(url) ?? []
  if (base64 === undefined) return { mediaType: 'image (url)', width: null, height: null }
  return describePicture(base64, mediaType ?? '')
}

function readTools(body: JsonObject): { tools: OfferedTool[]; choice: ToolChoice } {
  const tools = listOf(body.tools)
    .filter(isObject)
    .flatMap(tool => {
      const made = isObject(tool.function) ? tool.function : tool.custom
      if (!isObject(made)) return []
      return [
        {
          name: textOf(made.name),
          description: textOf(made.description),
          schema: made.parameters ?? { type: 'object' },
          freeform: tool.type === 'custom',
        },
      ]
    })
  const wanted = body.tool_choice
  if (wanted === 'none') return { tools, choice: { kind: 'none' } }
  if (wanted === 'required') return { tools, choice: { kind: 'any' } }
  if (!isObject(wanted)) return { tools, choice: { kind: 'auto' } }
  if (isObject(wanted.function)) return { tools, choice: { kind: 'tool', name: textOf(wanted.function.name) } }
  const allowed = isObject(wanted.allowed_tools) ? wanted.allowed_tools : {}
  const names = listOf(allowed.tools)
    .filter(isObject)
    .map(tool => (isObject(tool.function) ? tool.function.name : undefined))
  return {
    tools: tools.filter(tool => names.includes(tool.name)),
    choice: { kind: allowed.mode === 'required' ? 'any' : 'auto' },
  }
}

function readForm(form: Json | undefined): OutputForm {
  if (!isObject(form)) return { kind: 'text' }
  if (form.type === 'json_object') return { kind: 'object' }
  const made = isObject(form.json_schema) ? form.json_schema : {}
  return form.type === 'json_schema' ? { kind: 'schema', schema: made.schema ?? {} } : { kind: 'text' }
}

function readReasoning(body: JsonObject, facts: ModelFacts): number {
  if (typeof body.reasoning_effort === 'string') return EFFORT_TOKENS[body.reasoning_effort] ?? 0
  const thinking = isObject(body.thinking) ? body.thinking.type : undefined
  const requested = thinking ?? body.enable_thinking ?? facts.reasonsByDefault
  if (requested !== 'enabled' && requested !== true) return 0
  if (thinking === undefined && body.enable_thinking === undefined) return DEFAULT_REASONING_TOKENS
  return firstNumber(body.thinking_budget) ?? EFFORT_TOKENS.medium!
}

/** Counts a request's tokens: text with the tokenizer, images by tiles, plus a few tokens per message and tool. */
function countInput(body: JsonObject, messages: readonly JsonObject[]): number {
  let tokens = 3
  for (const message of messages) {
    tokens += 4
    for (const part of partsOf(message.content)) tokens += countPart(part)
    for (const call of listOf(message.tool_calls)) tokens += countText(JSON.stringify(call))
    tokens += countText(textOf(message.reasoning_content))
  }
  for (const tool of listOf(body.tools)) tokens += 8 + countText(JSON.stringify(tool))
  if (isObject(body.response_format)) tokens += countText(JSON.stringify(body.response_format))
  return tokens
}

function countPart(part: JsonObject): number {
  if (part.type === 'text') return countText(textOf(part.text))
  if (isPdf(part)) return countFile(isObject(part.image_url) ? textOf(part.image_url.url) : '')
  if (part.type === 'image_url') {
    const detail = isObject(part.image_url) ? textOf(part.image_url.detail) : ''
    return countPicture(readPicture(part), 'tiles', detail)
  }
  if (part.type === 'file') return countFile(isObject(part.file) ? textOf(part.file.file_data) : '')
  return countText(JSON.stringify(part).slice(0, 10_000))
}

function countFile(dataUrl: string): number {
  return countPdf(Buffer.from(dataUrl.slice(dataUrl.indexOf(',') + 1), 'base64'))
}

function checkWindow(inputTokens: number, outputTokensMax: number, facts: ModelFacts): void {
  const window = facts.contextTokens
  const wanted = inputTokens + outputTokensMax
  if (window === null || wanted <= window) return
  const split = outputTokensMax > 0 ? ` (${inputTokens} in the messages, ${outputTokensMax} in the completion)` : ''
  throw invalid(
    `This model's maximum context length is ${window} tokens. However, you requested ${wanted} tokens${split}. Please reduce the length of the messages or completion.`,
    { param: 'messages', code: 'context_length_exceeded' },
  )
}
