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
  const ranked = wanted === undefined ? rank(tools, prompt.userText) : [wanted]
  const first = ranked[0]!
  if (!prompt.parallelCalls || !ASKS_FOR_TWO.test(prompt.userText)) return [first]
  const second = ranked[1]
  return [first, second !== undefined && score(second, prompt.userText) > 0 ? second : first]
}

/** Best fitting tool first; the order of the offer decides among equals. */
function rank(tools: readonly OfferedTool[], text: string): OfferedTool[] {
  return tools
    .map((tool, position) => ({ tool, position, points: score(tool, text) }))
    .sort((left, right) => right.points - left.points || left.position - right.position)
    .map(({ tool }) => tool)
}

function score(tool: OfferedTool, text: string): number {
  const prompt = text.slice(0, 4_000).toLowerCase()
  if (prompt.includes(tool.name.toLowerCase())) return 100
  const wordsOf = (source: string) => new Set(source.toLowerCase().match(/\p{L}{4,}/gu) ?? [])
  const asked = wordsOf(prompt)
  const inName = [...wordsOf(tool.name.replaceAll(/[_-]|(?<=[a-z])(?=[A-Z])/g, ' '))]
  const inDescription = [...wordsOf(tool.description.slice(0, 400))]
  return inName.filter(word => asked.has(word)).length * 5 + inDescription.filter(word => asked.has(word)).length
}
