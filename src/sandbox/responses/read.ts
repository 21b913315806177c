/** Reads requests in the responses format that have passed validation. */

import { countPdf, countPicture, countText, describePicture } from '../count.ts'
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

const EFFORT_TOKENS: Readonly<Record<string, number>> = {
  none: 0,
  minimal: 64,
  low: 512,
  medium: 1_024,
  high: 2_048,
  xhigh: 4_096,
  max: 4_096,
}

/** Turns a request into a prompt for the simulated model. `items` is the whole conversation, including remembered turns. */
export function readResponsesPrompt(body: JsonObject, items: readonly JsonObject[], facts: ModelFacts): Prompt {
  const isSystem = (item: JsonObject) => item.role === 'system' || item.role === 'developer'
  const spoken = items.filter(item => !isSystem(item))
  const lastOwn = spoken.findLastIndex(item => item.role === 'assistant' || isOutput(item))
  const last = spoken.slice(lastOwn + 1)
  const turn = readUserTurn(textsOf(last))
  const systemTexts = [textOf(body.instructions), ...items.filter(isSystem).map(contentText)]
  const parts = items.flatMap(item => [...partsOf(item.content), ...partsOf(item.output)])
  const inputTokens = countInput(body, items)
  const outputTokensMax = typeof body.max_output_tokens === 'number' ? body.max_output_tokens : null
  checkWindow(inputTokens, facts)
  return {
    model: textOf(body.model),
    facts,
    systemText: systemTexts.filter(text => text !== '').join('\n'),
    ...turn,
    directory: workingDirectory([...systemTexts, ...textsOf(spoken)]),
    outcomes: readOutcomes(last, items),
    turns: spoken.filter(item => item.role !== undefined).length,
    images: parts.filter(part => part.type === 'input_image').map(readPicture),
    documents: parts.filter(part => part.type === 'input_file').length,
    tools: listOf(body.tools)
      .filter(isObject)
      .filter(tool => tool.type === 'function' || tool.type === 'custom')
      .map(tool => ({
        name: textOf(tool.name),
        description: textOf(tool.description),
        schema: tool.parameters ?? { type: 'object' },
        freeform: tool.type === 'custom',
      })),
    toolChoice: readChoice(body.tool_choice),
    parallelCalls: body.parallel_tool_calls !== false,
    outputForm: formInWords(readForm(body.text), [...systemTexts, turn.request]),
    reasoningTokensMax: facts.reasoning ? readReasoning(body.reasoning, facts) : 0,
    outputTokensMax: outputTokensMax ?? facts.outputTokensMax,
    stopSequences: [],
    inputTokens,
    words: wordsOf(turn.userText),
  }
}

/** Returns the request's `input` as a list of items. A plain string becomes one user message. */
export function inputItems(input: Json | undefined): JsonObject[] {
  if (typeof input === 'string') return [{ type: 'message', role: 'user', content: input }]
  return listOf(input).filter(isObject)
}

/** Whether an item is output of the model other than a message. */
function isOutput(item: JsonObject): boolean {
  return ['function_call', 'reasoning', 'custom_tool_call'].includes(String(item.type))
}

function partsOf(content: Json | undefined): JsonObject[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'input_text', text: content }]
  return listOf(content).filter(isObject)
}

function contentText(item: JsonObject): string {
  return partsOf(item.content)
    .map(part => textOf(part.text))
    .filter(text => text !== '')
    .join('\n')
}

/** The text of each part of the user's messages. */
function textsOf(items: readonly JsonObject[]): string[] {
  return items
    .filter(item => item.role === 'user')
    .flatMap(item => partsOf(item.content))
    .map(part => textOf(part.text))
}

function readOutcomes(last: readonly JsonObject[], items: readonly JsonObject[]): ToolOutcome[] {
  const outputs = last.filter(item => item.type === 'function_call_output' || item.type === 'custom_tool_call_output')
  return outputs.map(output => {
    const call = items.findLast(item => isOutput(item) && item.call_id === output.call_id)
    const text = partsOf(output.output)
      .map(part => textOf(part.text))
      .join('\n')
    return { toolName: textOf(call?.name), text, failed: false }
  })
}

function readPicture(part: JsonObject): PromptImage {
  const [, mediaType, base64] = /^data:([^;,]+)[^,]*,(.*)$/s.exec(textOf(part.image_url)) ?? []
  if (base64 === undefined) return { mediaType: 'image (url)', width: null, height: null }
  return describePicture(base64, mediaType ?? '')
}

function readChoice(choice: Json | undefined): ToolChoice {
  if (choice === 'none') return { kind: 'none' }
  if (choice === 'required') return { kind: 'any' }
  return isObject(choice) && (choice.type === 'function' || choice.type === 'custom')
    ? { kind: 'tool', name: textOf(choice.name) }
    : { kind: 'auto' }
}

function readForm(text: Json | undefined): OutputForm {
  const format = isObject(text) && isObject(text.format) ? text.format : {}
  if (format.type === 'json_schema') return { kind: 'schema', schema: format.schema ?? {} }
  return format.type === 'json_object' ? { kind: 'object' } : { kind: 'text' }
}

function readReasoning(reasoning: Json | undefined, facts: ModelFacts): number {
  const effort = isObject(reasoning) ? textOf(reasoning.effort) : ''
  if (!isObject(reasoning)) return facts.reasonsByDefault === true ? DEFAULT_REASONING_TOKENS : 0
  return EFFORT_TOKENS[effort || 'medium'] ?? 0
}

function countInput(body: JsonObject, items: readonly JsonObject[]): number {
  let tokens = 3 + countText(textOf(body.instructions))
  for (const item of items) {
    tokens += 4
    if (item.type === 'function_call') tokens += countText(textOf(item.name)) + countText(textOf(item.arguments))
    for (const part of [...partsOf(item.content), ...partsOf(item.output)]) tokens += countPart(part)
  }
  for (const tool of listOf(body.tools)) tokens += 8 + countText(JSON.stringify(tool))
  if (isObject(body.text)) tokens += countText(JSON.stringify(body.text))
  return tokens
}

function countPart(part: JsonObject): number {
  if (part.type === 'input_image') return countPicture(readPicture(part), 'tiles', textOf(part.detail))
  if (part.type !== 'input_file') return countText(textOf(part.text))
  const data = textOf(part.file_data)
  return countPdf(Buffer.from(data.slice(data.indexOf(',') + 1), 'base64'))
}

function checkWindow(inputTokens: number, facts: ModelFacts): void {
  if (facts.contextTokens === null || inputTokens <= facts.contextTokens) return
  throw invalid('Your input exceeds the context window of this model. Please adjust your input and try again.', {
    param: 'input',
    code: 'context_length_exceeded',
  })
}
