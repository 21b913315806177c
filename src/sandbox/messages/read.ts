/** Reads a validated request in the messages format. */

import { countDocument, countPicture, countText, describePicture } from '../count.ts'
import { wordsOf } from '../endpoint.ts'
import { isObject, type Json, type JsonObject, listOf, textOf } from '../json.ts'
import {
  DEFAULT_REASONING_TOKENS,
  invalid,
  type ModelFacts,
  type OutputForm,
  type Prompt,
  type PromptImage,
  type ToolChoice,
  type ToolOutcome,
} from '../model.ts'
import { formInWords } from '../task/form.ts'
import { readUserTurn, workingDirectory } from '../task/request.ts'

export function readMessagesPrompt(body: JsonObject, facts: ModelFacts): Prompt {
  const messages = listOf(body.messages).filter(isObject)
  const spoken = messages.filter(message => message.role !== 'system')
  const last = lastTurn(spoken)
  const turn = readUserTurn(textsOf(last))
  const systemTexts = [
    systemText(body.system),
    ...messages.filter(isSystem).map(message => systemText(message.content)),
  ]
  const blocks = messages.flatMap(message => blocksOf(message.content))
  const nested = blocks.flatMap(block => (block.type === 'tool_result' ? blocksOf(block.content) : []))
  const outcomes = readOutcomes(last, blocks)
  const inputTokens = countInput(body, messages)
  checkWindow(inputTokens, body.max_tokens as number, facts)
  const choice = isObject(body.tool_choice) ? body.tool_choice : {}
  return {
    model: textOf(body.model),
    facts,
    systemText: systemTexts.filter(text => text !== '').join('\n'),
    ...turn,
    directory: workingDirectory([...systemTexts, ...textsOf(blocks)]),
    outcomes,
    turns: spoken.length,
    images: [...blocks, ...nested].filter(block => block.type === 'image').map(readPicture),
    documents: [...blocks, ...nested].filter(block => block.type === 'document').length,
    tools: listOf(body.tools)
      .filter(isObject)
      .filter(isCallable)
      .map(tool => ({
        name: textOf(tool.name),
        description: textOf(tool.description),
        schema: tool.input_schema ?? {},
        freeform: false,
      })),
    toolChoice: readChoice(choice),
    parallelCalls: choice.disable_parallel_tool_use !== true,
    outputForm: formInWords(readForm(body), [...systemTexts, turn.request]),
    reasoningTokensMax: readReasoning(body, facts),
    outputTokensMax: body.max_tokens as number,
    stopSequences: listOf(body.stop_sequences).filter(stop => typeof stop === 'string'),
    inputTokens,
    words: wordsOf(turn.userText),
  }
}

/** The blocks of `content`, which may also be a plain string. */
function blocksOf(content: Json | undefined): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return listOf(content).filter(isObject)
}

function textsOf(blocks: readonly JsonObject[]): string[] {
  return blocks.filter(block => block.type === 'text').map(block => textOf(block.text))
}

/** The blocks of all user turns after the last assistant turn. */
function lastTurn(spoken: readonly JsonObject[]): JsonObject[] {
  const start = spoken.findLastIndex(message => message.role === 'assistant') + 1
  return spoken.slice(start).flatMap(message => blocksOf(message.content))
}

function isSystem(message: JsonObject): boolean {
  return message.role === 'system'
}

function systemText(system: Json | undefined): string {
  return blocksOf(system)
    .map(block => textOf(block.text))
    .join('\n')
}

/** Whether the sandbox may call a tool: it must have a schema. Server tools and deferred tools are never called. */
function isCallable(tool: JsonObject): boolean {
  return isObject(tool.input_schema) && tool.defer_loading !== true
}

function readOutcomes(last: readonly JsonObject[], all: readonly JsonObject[]): ToolOutcome[] {
  return last
    .filter(block => block.type === 'tool_result')
    .map(block => {
      const call = all.find(candidate => candidate.type === 'tool_use' && candidate.id === block.tool_use_id)
      const parts = blocksOf(block.content).map(part => (part.type === 'text' ? textOf(part.text) : `[${part.type}]`))
      return { toolName: textOf(call?.name), text: parts.join('\n'), failed: block.is_error === true }
    })
}

function readPicture(block: JsonObject): PromptImage {
  const source = isObject(block.source) ? block.source : {}
  if (source.type !== 'base64') return { mediaType: `image (${source.type})`, width: null, height: null }
  return describePicture(textOf(source.data), textOf(source.media_type))
}

function readChoice(choice: JsonObject): ToolChoice {
  if (choice.type === 'tool') return { kind: 'tool', name: textOf(choice.name) }
  return choice.type === 'any' || choice.type === 'none' ? { kind: choice.type } : { kind: 'auto' }
}

function readForm(body: JsonObject): OutputForm {
  const config = isObject(body.output_config) ? body.output_config : {}
  const format = config.format ?? body.output_format
  return isObject(format) && isObject(format.schema) ? { kind: 'schema', schema: format.schema } : { kind: 'text' }
}

function readReasoning(body: JsonObject, facts: ModelFacts): number {
  const thinking = body.thinking
  if (!isObject(thinking)) return facts.reasonsByDefault === true ? DEFAULT_REASONING_TOKENS : 0
  if (thinking.type === 'disabled') return 0
  return typeof thinking.budget_tokens === 'number' ? thinking.budget_tokens : 2_048
}

/** Counts a request's tokens: text with the tokenizer, images by pixels, plus a few tokens per turn and tool. */
function countInput(body: JsonObject, messages: readonly JsonObject[]): number {
  let tokens = 3
  for (const block of blocksOf(body.system)) tokens += countText(textOf(block.text))
  for (const message of messages) {
    tokens += 4
    for (const block of blocksOf(message.content)) tokens += countBlock(block)
  }
  const tools = listOf(body.tools)
  if (tools.length > 0) tokens += 300
  for (const tool of tools) tokens += 8 + countText(JSON.stringify(tool))
  return tokens
}

function countBlock(block: JsonObject): number {
  switch (block.type) {
    case 'text':
      return countText(textOf(block.text))
    case 'thinking':
      return countText(textOf(block.thinking))
    case 'image':
      return countPicture(readPicture(block), 'pixels')
    case 'document':
      return countDocument(block)
    case 'tool_use':
      return 8 + countText(textOf(block.name)) + countText(JSON.stringify(block.input ?? {}))
    case 'tool_result': {
      let tokens = 8
      for (const inner of blocksOf(block.content)) tokens += countBlock(inner)
      return tokens
    }
    default:
      return countText(JSON.stringify(block))
  }
}

function checkWindow(inputTokens: number, maxTokens: number, facts: ModelFacts): void {
  const window = facts.contextTokens
  if (window === null) return
  if (inputTokens > window) throw invalid(`prompt is too long: ${inputTokens} tokens > ${window} maximum`)
  if (inputTokens + maxTokens > window) {
    throw invalid(
      `input length and \`max_tokens\` exceed context limit: ${inputTokens} + ${maxTokens} > ${window}, decrease input length or \`max_tokens\` and try again`,
    )
  }
}
