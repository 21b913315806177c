/** Plans a reply: its reasoning, text and tool calls, where it stops, and what it costs in tokens. */

import { countTokens, tokenPieces } from '../lib/tokens.ts'
import { closingCall, planCalls } from './call-plan.ts'
import { hintsIn } from './hints.ts'
import { type Language, languageOf, SENTENCES } from './language.ts'
import type { PlannedCall, Prompt, PromptImage, ReplyPlan, StopCause } from './model.ts'
import { instanceOf } from './schema-instance.ts'
import { withoutWords, wordNumber } from './words.ts'

export interface PlanLimits {
  /** Longest reply in tokens, whatever the client requests. */
  readonly replyTokensMax: number
  /** Maximum number of characters that a reply echoes from the prompt, and from each tool result. */
  readonly echoCharactersMax: number
}

export function planReply(prompt: Prompt, limits: PlanLimits): ReplyPlan {
  const language = languageOf(prompt.userText)
  const budget = Math.min(prompt.outputTokensMax ?? limits.replyTokensMax, limits.replyTokensMax)
  const asked = planCalls(prompt)
  const answer = asked.length > 0 ? textBeforeCalls(prompt, language, limits) : answerText(prompt, language, limits)
  const closing = asked.length > 0 ? null : closingCall(prompt, answer)
  const calls = closing === null ? asked : [closing]
  const reasoning = cutTokens(reasoningText(prompt, language), Math.min(prompt.reasoningTokensMax, budget))
  const stopped = cutAtStop(closing === null ? answer : '', prompt.stopSequences)
  const text = cutTokens(stopped.text, budget - reasoning.tokens)
  const kept = keepCalls(stopped.sequence === null ? calls : [], budget - reasoning.tokens - text.tokens)
  const isTruncated =
    text.text.length < stopped.text.length || kept.isTruncated || (reasoning.isTruncated && budget <= reasoning.tokens)
  const usage = {
    inputTokens: prompt.inputTokens,
    cachedTokens: Math.min(wordNumber(prompt.words, 'cached') ?? 0, prompt.inputTokens),
    outputTokens: Math.max(1, reasoning.tokens + text.tokens + kept.tokens),
    reasoningTokens: reasoning.tokens,
  }
  return {
    reasoning: reasoning.text,
    text: text.text,
    calls: kept.calls,
    stop: stopCause({
      isTruncated,
      stoppedAt: stopped.sequence,
      called: kept.calls.length > 0,
      refused: prompt.words.has('refuse'),
    }),
    stopSequence: isTruncated ? null : stopped.sequence,
    usage,
    reportsUsage: !prompt.words.has('no-usage'),
  }
}

function stopCause(facts: {
  isTruncated: boolean
  stoppedAt: string | null
  called: boolean
  refused: boolean
}): StopCause {
  if (facts.isTruncated) return 'length'
  if (facts.stoppedAt !== null) return 'stop_sequence'
  if (facts.refused) return 'refusal'
  return facts.called ? 'tool_calls' : 'end'
}

function reasoningText(prompt: Prompt, language: Language): string {
  if (prompt.reasoningTokensMax === 0) return ''
  const sentences: string[] = []
  let tokens = 0
  for (const sentence of SENTENCES[language].reasoning) {
    tokens += countTokens(` ${sentence}`)
    if (sentences.length === 0 || tokens <= prompt.reasoningTokensMax) sentences.push(sentence)
  }
  return sentences.join(' ')
}

/** Text before tool calls: none, unless the prompt asks for a certain length. */
function textBeforeCalls(prompt: Prompt, language: Language, limits: PlanLimits): string {
  const tokens = wordNumber(prompt.words, 'tokens')
  return tokens === null ? '' : ofLength('', Math.min(tokens, limits.replyTokensMax), SENTENCES[language].filler)
}

function answerText(prompt: Prompt, language: Language, limits: PlanLimits): string {
  const sentences = SENTENCES[language]
  if (prompt.words.has('refuse')) return sentences.refused
  if (prompt.outputForm.kind === 'schema') {
    return JSON.stringify(instanceOf(prompt.outputForm.schema, hintsIn(prompt.userText)))
  }
  const answer = prompt.outcomes.length > 0 ? outcomeText(prompt, language, limits) : echoText(prompt, language, limits)
  if (prompt.outputForm.kind === 'object') return JSON.stringify({ simulated: true, answer: answer })
  const tokens = wordNumber(prompt.words, 'tokens')
  return tokens === null ? answer : ofLength(answer, Math.min(tokens, limits.replyTokensMax), sentences.filler)
}

function outcomeText(prompt: Prompt, language: Language, limits: PlanLimits): string {
  const sentences = SENTENCES[language]
  const parts = prompt.outcomes.map(outcome => {
    const text = clip(outcome.text, limits.echoCharactersMax)
    return outcome.failed
      ? sentences.toolFailed(outcome.toolName, text)
      : sentences.toolReturned(outcome.toolName, text)
  })
  return [sentences.simulated, ...parts, sentences.toolsDone].join('\n')
}

function echoText(prompt: Prompt, language: Language, limits: PlanLimits): string {
  const sentences = SENTENCES[language]
  const prompted = clip(withoutWords(prompt.userText).trim(), limits.echoCharactersMax)
  const parts = [sentences.simulated, prompted === '' ? sentences.noText : sentences.echo(prompted)]
  if (prompt.images.length > 0) parts.push(sentences.images(prompt.images.map(describeImage)))
  if (prompt.documents > 0) parts.push(sentences.documents(prompt.documents))
  if (prompt.systemText !== '') parts.push(sentences.system(prompt.systemText.length))
  if (prompt.tools.length > 0) parts.push(sentences.tools(prompt.tools.slice(0, 20).map(tool => tool.name)))
  if (prompt.turns > 1) parts.push(sentences.turns(prompt.turns))
  return parts.join(' ')
}

function describeImage(image: PromptImage): string {
  return image.width === null ? image.mediaType : `${image.mediaType}, ${image.width}×${image.height} pixels`
}

function clip(text: string, charactersMax: number): string {
  return text.length > charactersMax ? `${text.slice(0, charactersMax).toWellFormed()}…` : text
}

/** Truncates `text`, or pads it with sentences, to exactly `tokens` tokens. */
function ofLength(text: string, tokens: number, filler: readonly string[]): string {
  const parts = [text]
  let have = text === '' ? 0 : countTokens(text)
  for (let index = 0; have < tokens; index += 1) {
    const sentence = `${have === 0 ? '' : ' '}${filler[index % filler.length]!}`
    parts.push(sentence)
    have += countTokens(sentence)
  }
  return cutTokens(parts.join(''), tokens).text
}

function cutAtStop(text: string, stopSequences: readonly string[]): { text: string; sequence: string | null } {
  let cut = text.length
  let sequence: string | null = null
  for (const candidate of stopSequences) {
    const position = candidate === '' ? -1 : text.indexOf(candidate)
    if (position >= 0 && position < cut) {
      cut = position
      sequence = candidate
    }
  }
  return { text: text.slice(0, cut), sequence }
}

/** Returns the longest prefix of `text` with at most `tokensMax` tokens. */
function cutTokens(text: string, tokensMax: number): { text: string; tokens: number; isTruncated: boolean } {
  let tokens = 0
  let characters = 0
  for (const piece of tokenPieces(text)) {
    if (tokens + piece.tokens > tokensMax) {
      const part = cutPiece(piece.text, tokensMax - tokens)
      return { text: text.slice(0, characters) + part, tokens: tokens + countTokens(part), isTruncated: true }
    }
    tokens += piece.tokens
    characters += piece.text.length
  }
  return { text, tokens, isTruncated: false }
}

function cutPiece(piece: string, tokensMax: number): string {
  const characters = [...piece]
  for (let length = characters.length - 1; length > 0; length -= 1) {
    const part = characters.slice(0, length).join('')
    if (countTokens(part) <= tokensMax) return part
  }
  return ''
}

/** Returns the calls that fit into the token budget. Truncates the first one that does not fit, and drops the rest. */
function keepCalls(calls: readonly PlannedCall[], tokensMax: number) {
  const kept: PlannedCall[] = []
  let tokens = 0
  for (const call of calls) {
    const head = countTokens(call.name) + 4
    const body = countTokens(call.argumentsText)
    if (tokens + head + body > tokensMax) {
      const part = cutTokens(call.argumentsText, tokensMax - tokens - head)
      if (tokensMax - tokens >= head) {
        kept.push({ ...call, argumentsText: part.text, complete: false })
        tokens += head + part.tokens
      }
      return { calls: kept, tokens, isTruncated: true }
    }
    kept.push(call)
    tokens += head + body
  }
  return { calls: kept, tokens, isTruncated: false }
}
