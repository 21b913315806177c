/** Decides which tools a reply calls, and with which arguments. */

import { hintsIn } from './hints.ts'
import type { Json } from './json.ts'
import type { OfferedTool, PlannedCall, Prompt } from './model.ts'
import { instanceOf } from './schema-instance.ts'
import { readTask } from './task/task.ts'
import { closingUse, isCodingKit, nameWords, startsAgent, type ToolUse, toolFor } from './task/tool.ts'
import { withoutWords } from './words.ts'

const ASKS_FOR_TWO =
  /\b(?:two|both|twice|in parallel|parallel calls|simultaneously|at the same time)\b|(?<!\p{L})(?:hai|cả hai|song song|đồng thời|cùng lúc)(?!\p{L})/iu

const REQUEST_CHARACTERS_MAX = 4_000
const NO_VALUES: ReadonlyMap<string, Json> = new Map()

/**
 * Points that a tool gets if the request names it (`named`), or else for each word of its name or description that the request
 * contains; words of a short description count more. The sandbox calls a tool only if it has at least `least` points.
 */
const POINTS = { named: 100, nameWord: 5, descriptionWord: 2, shortDescriptionWord: 4, least: 4 } as const
const SHORT_DESCRIPTION_WORDS = 4

/** Words that reveal nothing about a tool's purpose. */
const COMMON_WORDS = new Set(
  `the and for with from into that this these those what which when where who how why your you are can will would
  get gets set list read write find search look lookup run call calls make create update delete send show fetch query
  tool tools function functions file files data current given name names text string value values user users return
  returns returned use used uses using about have has its it's any all one two new other information please says said
  tell like then than there their them some more most such only also each`.split(/\s+/),
)

/**
 * Plans the calls of a reply. None if the reply should be text: no tool fits, the tool choice is `none`, results have just
 * arrived, or the prompt asks for text. An agent that wants a call even after results takes its answer as the call of its last tool.
 */
export function planCalls(prompt: Prompt): PlannedCall[] {
  const hints = hintsIn(prompt.request)
  return chooseTools(prompt).map(({ tool, given }) => {
    if (tool.freeform) {
      const text = String(given.get('input') ?? hints.strings.shift() ?? 'sandbox')
      return { name: tool.name, freeform: true, input: text, argumentsText: text, complete: true }
    }
    const built = instanceOf(tool.schema, { ...hints, given })
    const input = typeof built === 'object' && built !== null && !Array.isArray(built) ? built : {}
    return { name: tool.name, freeform: false, input, argumentsText: JSON.stringify(input), complete: true }
  })
}

/**
 * Plans the call with the final answer, for agents that accept the answer only through a tool; null if they take plain text.
 */
export function closingCall(prompt: Prompt, text: string): PlannedCall | null {
  const { tools, toolChoice, words } = prompt
  if (toolChoice.kind === 'none' || words.has('text') || words.has('refuse')) return null
  const use = closingUse(tools, text)
  if (use === null) return null
  const input = instanceOf(use.tool.schema, { strings: [], numbers: [], given: use.given })
  return { name: use.tool.name, freeform: false, input, argumentsText: JSON.stringify(input), complete: true }
}

function chooseTools(prompt: Prompt): ToolUse[] {
  const { tools, toolChoice, words, outcomes } = prompt
  if (tools.length === 0 || toolChoice.kind === 'none' || words.has('refuse')) return []
  const named = toolChoice.kind === 'tool' ? toolChoice.name : words.get('tool')
  const wanted = tools.find(tool => tool.name === named)
  if (wanted !== undefined) return onceOrTwice(prompt, [wanted])
  const forced = toolChoice.kind !== 'auto' || words.has('tool')
  if (!forced && (words.has('text') || outcomes.length > 0)) return []
  const canClose = closingUse(tools, '') !== null
  if (outcomes.length > 0 && !words.has('tool')) {
    if (canClose) return []
    const other = tools.findLast(tool => !startsAgent(tool) && outcomes.every(({ toolName }) => toolName !== tool.name))
    if (other !== undefined) return [{ tool: other, given: NO_VALUES }]
  }
  const request = withoutWords(prompt.request)
  const task = readTask(request)
  const use = task === null ? null : toolFor(task, tools, prompt.directory)
  if (use !== null) return [use]
  const fitting = rank(tools, request)
  if (fitting.length > 0) return onceOrTwice(prompt, fitting)
  return forced && !canClose ? onceOrTwice(prompt, [tools.find(tool => !startsAgent(tool)) ?? tools[0]!]) : []
}

/**
 * Plans a call of the best tool. If the request asks for two calls, also calls the second-best tool, or the only tool again.
 */
function onceOrTwice(prompt: Prompt, [first, second]: readonly OfferedTool[]): ToolUse[] {
  const one = { tool: first!, given: NO_VALUES }
  if (!prompt.parallelCalls || !ASKS_FOR_TWO.test(prompt.request)) return [one]
  return [one, second === undefined ? one : { tool: second, given: NO_VALUES }]
}

/** Returns the tools that fit the request, best match first. Tools with equal points keep the client's order. */
function rank(tools: readonly OfferedTool[], text: string): OfferedTool[] {
  const request = text.slice(0, REQUEST_CHARACTERS_MAX).toLowerCase()
  const asked = wordsOf(request)
  const byName = isCodingKit(tools)
  return tools
    .filter(tool => !startsAgent(tool))
    .map(tool => ({ tool, points: isNamed(tool, request) ? POINTS.named : byName ? 0 : score(tool, asked) }))
    .filter(({ points }) => points >= POINTS.least)
    .sort((left, right) => right.points - left.points)
    .map(({ tool }) => tool)
}

/**
 * Whether the request names the tool. A name of several words always counts. A name that is a single word only counts next to a
 * word such as `use` or `tool`.
 */
function isNamed({ name }: OfferedTool, request: string): boolean {
  const quoted = name.toLowerCase().replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  const whole = `(?<![\\p{L}\\d_-])[\`"']?${quoted}[\`"']?(?![\\p{L}\\d_-])`
  if (nameWords(name).length > 1) return new RegExp(whole, 'u').test(request)
  const meant = `(?<!\\p{L})(?:use|using|call|invoke|dùng|gọi)\\s+(?:the\\s+|tool\\s+|công cụ\\s+)?${whole}|${whole}\\s+tool(?!\\p{L})`
  return new RegExp(meant, 'u').test(request)
}

function score(tool: OfferedTool, asked: ReadonlySet<string>): number {
  const inName = wordsOf(nameWords(tool.name).join(' '))
  const inDescription = wordsOf(tool.description.slice(0, 400).toLowerCase())
  const nameHits = [...inName].filter(word => asked.has(word)).length
  const descriptionHits = [...inDescription].filter(word => !inName.has(word) && asked.has(word)).length
  const isShort = inDescription.size <= SHORT_DESCRIPTION_WORDS
  return nameHits * POINTS.nameWord + descriptionHits * (isShort ? POINTS.shortDescriptionWord : POINTS.descriptionWord)
}

/** The meaningful words in a text, without a plural `s`. */
function wordsOf(text: string): Set<string> {
  const words = (text.match(/\p{L}{3,}/gu) ?? []).filter(word => !COMMON_WORDS.has(word))
  return new Set(words.map(word => (word.length > 4 ? word.replace(/s$/, '') : word)))
}
