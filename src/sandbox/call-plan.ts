/** Which tools a reply calls, and with which arguments. */

import { hintsIn } from './hints.ts'
import type { OfferedTool, PlannedCall, Prompt } from './model.ts'
import { instanceOf } from './schema-instance.ts'

const ASKS_FOR_TWO =
  /\b(?:two|both|twice|in parallel|parallel calls|simultaneously|at the same time)\b|(?<!\p{L})(?:hai|cả hai|song song|đồng thời|cùng lúc)(?!\p{L})/iu

/** No calls when the reply is to be text: no tools, choice `none`, results just in, or the prompt says so. */
export function planCalls(prompt: Prompt): PlannedCall[] {
  const tools = chooseTools(prompt)
  const hints = hintsIn(prompt.userText)
  return tools.map(tool => {
    const built = instanceOf(tool.schema, hints)
    const input = typeof built === 'object' && built !== null && !Array.isArray(built) ? built : {}
    return { name: tool.name, input, argumentsText: JSON.stringify(input), complete: true }
  })
}

function chooseTools(prompt: Prompt): OfferedTool[] {
  const { tools, toolChoice, words } = prompt
  if (tools.length === 0 || toolChoice.kind === 'none' || words.has('refuse')) return []
  const named = toolChoice.kind === 'tool' ? toolChoice.name : words.get('tool')
  const wanted = tools.find(tool => tool.name === named)
  const forced = toolChoice.kind !== 'auto' || words.has('tool')
  if (!forced && (words.has('text') || prompt.outcomes.length > 0 || prompt.outputForm.kind !== 'text')) return []
  if (!forced && prompt.userText.trim() === '') return []
  const ranked = wanted === undefined ? rank(tools, prompt.userText) : [{ tool: wanted, points: 0 }]
  const first = ranked[0]!.tool
  if (!prompt.parallelCalls || !ASKS_FOR_TWO.test(prompt.userText)) return [first]
  const second = ranked[1]
  return [first, second !== undefined && second.points > 0 ? second.tool : first]
}

interface RankedTool {
  readonly tool: OfferedTool
  readonly points: number
}

/** Best fitting tool first; the order of the offer decides among equals. */
function rank(tools: readonly OfferedTool[], text: string): RankedTool[] {
  const prompt = text.slice(0, 4_000).toLowerCase()
  const asked = wordsOf(prompt)
  return tools
    .map(tool => ({ tool, points: score(tool, prompt, asked) }))
    .sort((left, right) => right.points - left.points)
}

function score(tool: OfferedTool, prompt: string, asked: ReadonlySet<string>): number {
  if (prompt.includes(tool.name.toLowerCase())) return 100
  const inName = [...wordsOf(tool.name.replaceAll(/[_-]|(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase())]
  const inDescription = [...wordsOf(tool.description.slice(0, 400).toLowerCase())]
  return inName.filter(word => asked.has(word)).length * 5 + inDescription.filter(word => asked.has(word)).length
}

function wordsOf(text: string): Set<string> {
  return new Set(text.match(/\p{L}{4,}/gu) ?? [])
}
