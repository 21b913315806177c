/** Converts each case for each target. The results are kept in files for review, so that a loss shows as a changed line. */

import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatFormat, JsonObject, Translator } from '../../../src/translate/translator.ts'
import { chatViaMessages, contextOf, messagesViaChat } from '../support.ts'
import { chatCases } from './chat-cases.ts'
import { messagesCases } from './messages-cases.ts'
import { CHAT_TARGETS, MESSAGES_TARGETS, type Target } from './targets.ts'

interface Direction {
  readonly folder: string
  readonly translator: Translator
  readonly upstream: ChatFormat
  readonly targets: readonly Target[]
}

const MESSAGES: Direction = {
  folder: 'messages-via-chat',
  translator: messagesViaChat,
  upstream: 'chat_completions',
  targets: CHAT_TARGETS,
}
const CHAT: Direction = {
  folder: 'chat-via-messages',
  translator: chatViaMessages,
  upstream: 'messages',
  targets: MESSAGES_TARGETS,
}

/** The order in which the files list fields; other fields keep their order. */
const ORDER: Readonly<Record<ChatFormat, readonly string[]>> = {
  messages: ['model', 'max_tokens', 'system', 'messages', 'tools', 'tool_choice', 'thinking', 'output_config'],
  chat_completions: [
    ...['model', 'messages', 'max_tokens', 'max_completion_tokens', 'tools', 'tool_choice', 'parallel_tool_calls'],
    ...['thinking', 'reasoning_effort', 'enable_thinking', 'thinking_budget', 'response_format'],
  ],
}

function inOrder(body: JsonObject, format: ChatFormat): JsonObject {
  const first = ORDER[format].filter(field => Object.hasOwn(body, field))
  return { ...Object.fromEntries(first.map(field => [field, body[field]])), ...body }
}

function convert(body: JsonObject, { dialect, entry }: Target, { translator, upstream }: Direction): JsonObject {
  try {
    const context = contextOf({ upstream, dialect, ...(entry && { entry }) })
    const { upstreamBody, upstreamBetas } = translator(body, context)
    const betas = upstreamBetas.length > 0 ? { '(betas)': [...upstreamBetas] } : {}
    return JSON.parse(JSON.stringify({ ...inOrder(upstreamBody, upstream), ...betas })) as JsonObject
  } catch (error) {
    if (error instanceof GatewayError) return { '(refused)': error.message }
    throw error
  }
}

/** The file of one case: the whole body for the first target, and the fields that differ for the others (`null` if missing). */
function golden(body: JsonObject, direction: Direction): string {
  const [plain, ...others] = direction.targets
  const base = convert(body, plain!, direction)
  const differences = others.map(target => [target.name, difference(base, convert(body, target, direction))] as const)
  return stringify(
    { [plain!.name]: base, ...Object.fromEntries(differences) },
    { lineWidth: 0, aliasDuplicateObjects: false },
  )
}

function difference(base: JsonObject, other: JsonObject): JsonObject {
  const changed = Object.entries(other).filter(([key, value]) => JSON.stringify(base[key]) !== JSON.stringify(value))
  const missing = '(refused)' in other ? [] : Object.keys(base).filter(key => !(key in other))
  return { ...Object.fromEntries(changed), ...Object.fromEntries(missing.map(key => [key, null])) }
}

const slug = (name: string) => name.replaceAll(/[^a-zA-Z0-9]+/g, '-')

test.each(messagesCases())('messages via chat: %s', async (name, body) => {
  await expect(golden(body, MESSAGES)).toMatchFileSnapshot(`${MESSAGES.folder}/${slug(name)}.yaml`)
})

test.each(chatCases())('chat via messages: %s', async (name, body) => {
  await expect(golden(body, CHAT)).toMatchFileSnapshot(`${CHAT.folder}/${slug(name)}.yaml`)
})

test('converting does not modify the client’s body', () => {
  for (const [cases, direction] of [
    [messagesCases(), MESSAGES],
    [chatCases(), CHAT],
  ] as const) {
    for (const [, body] of cases) {
      const before = JSON.stringify(body)
      for (const target of direction.targets) convert(body, target, direction)
      expect(JSON.stringify(body)).toBe(before)
    }
  }
})
