/** Checks conversations against the rules of each format, as strictly as its provider would. */

import { expect } from 'vitest'
import type { JsonObject } from '../../src/translate/translator.ts'

const WORD = /^[a-zA-Z0-9_-]{1,64}$/

type Blocks = JsonObject[]

function blocksOf(content: unknown): Blocks {
  if (typeof content === 'string') return [{ type: 'text', text: content }]
  expect(Array.isArray(content)).toBe(true)
  return content as Blocks
}

export function expectValidMessages(body: JsonObject): void {
  const messages = body.messages as JsonObject[]
  expect(messages.some(message => message.role === 'user')).toBe(true)
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    expect(['user', 'assistant', 'system']).toContain(message.role)
    const blocks = blocksOf(message.content)
    expect(blocks.length).toBeGreaterThan(0)
    for (const block of blocks) if (block.type === 'text') expect(String(block.text).trim()).not.toBe('')
    const uses = blocks.filter(block => block.type === 'tool_use').map(block => String(block.id))
    for (const id of uses) {
      expect(id).toMatch(WORD)
      expect(seen.has(id), 'unique ids').toBe(false)
      seen.add(id)
    }
    const results = blocks.filter(block => block.type === 'tool_result')
    if (uses.length > 0) {
      const next = blocksOf(messages[index + 1]?.content).slice(0, uses.length)
      expect(next.map(block => block.tool_use_id).toSorted()).toEqual(uses.toSorted())
    }
    if (results.length > 0) {
      const previous = blocksOf(messages[index - 1]?.content).filter(block => block.type === 'tool_use')
      expect(results.map(block => block.tool_use_id).toSorted()).toEqual(previous.map(block => block.id).toSorted())
      expect(blocks.slice(0, results.length), 'results first').toEqual(results)
    }
    if (message.role === 'system') {
      expect(index).toBeGreaterThan(0)
      expect([undefined, 'assistant']).toContain(messages[index + 1]?.role)
    }
  }
  expect(body.max_tokens).toBeGreaterThan(0)
  if (body.tools === undefined) expect(body.tool_choice).toBeUndefined()
}

export function expectValidChat(body: JsonObject): void {
  const messages = body.messages as JsonObject[]
  let open: string[] = []
  for (const message of messages) {
    if (message.role === 'tool') {
      expect(open, 'a result of the turn before').toContain(message.tool_call_id)
      open = open.filter(id => id !== message.tool_call_id)
      expect(message.content).toBeTypeOf('string')
      continue
    }
    expect(open, 'all results directly after their calls').toEqual([])
    expect(['system', 'developer', 'user', 'assistant']).toContain(message.role)
    const calls = (message.tool_calls ?? []) as { id: string; function: { arguments: string } }[]
    if (message.role === 'assistant' && calls.length === 0) expect(message.content).toBeTruthy()
    if (message.role === 'user') expect(message.content).not.toEqual([])
    for (const call of calls) {
      expect(call.id.length).toBeLessThanOrEqual(64)
      expect(JSON.parse(call.function.arguments)).toBeTypeOf('object')
    }
    open = calls.map(call => call.id)
    expect(new Set(open).size).toBe(open.length)
  }
  expect(open).toEqual([])
  if (body.tools === undefined) expect(body.tool_choice).toBeUndefined()
}

/** The meaning of a conversation as format-neutral lines: who says what, which tools are called, and their results. */
export function meaningOfMessages(body: JsonObject): string[] {
  return (body.messages as JsonObject[]).flatMap(message =>
    blocksOf(message.content).flatMap(block => {
      if (block.type === 'text') return textLine(message.role, block.text)
      if (block.type === 'tool_use') return [`call ${block.name} ${JSON.stringify(block.input)}`]
      if (block.type === 'image') return [`${message.role} image ${JSON.stringify(block.source)}`]
      if (block.type !== 'tool_result') return []
      return [
        `result ${
          block.content === undefined
            ? ''
            : blocksOf(block.content)
                .map(part => part.text)
                .join('\n')
        }`,
      ]
    }),
  )
}

export function meaningOfChat(body: JsonObject): string[] {
  return (body.messages as JsonObject[]).flatMap(message => {
    const parts = message.content === null ? [] : blocksOf(message.content)
    if (message.role === 'tool') return [`result ${parts.map(part => part.text).join('\n')}`]
    const spoken = parts.flatMap(part =>
      part.type === 'text' ? textLine(message.role, part.text) : [`${message.role} ${part.type}`],
    )
    const calls = (message.tool_calls ?? []) as { function: { name: string; arguments: string } }[]
    return [...spoken, ...calls.map(call => `call ${call.function.name} ${call.function.arguments}`)]
  })
}

function textLine(role: unknown, text: unknown): string[] {
  return String(text).trim() === '' ? [] : [`${role} ${text}`]
}
