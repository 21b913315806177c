/** Lists the dialect words (settings under `dialect` in the catalogue) that only have a meaning in some wire formats. */

import type { WireName } from '../src/generated/types.ts'

const CHAT: readonly WireName[] = ['chat_completions']
const MESSAGES: readonly WireName[] = ['messages']
const RESPONSES: readonly WireName[] = ['responses']

/**
 * The formats in which a word has a meaning. A key is a path under `dialect`: a word, a group (for all of its words), or a word
 * with one particular value. Words that are not listed here are allowed in every format.
 */
const WORDS: Readonly<Record<string, readonly WireName[]>> = {
  'output.cap_field': CHAT,
  'turns.system_role: instructions': RESPONSES,
  'turns.alternate': CHAT,
  'turns.threads': MESSAGES,
  'turns.phase': RESPONSES,
  'turns.item_ids': RESPONSES,
  'reasoning.display': MESSAGES,
  'reasoning.budget_accepted': MESSAGES,
  'reasoning.budget_field': CHAT,
  'reasoning.stream_only': CHAT,
  'reasoning.field: item_content': RESPONSES,
  'reasoning.tag': CHAT,
  'reasoning.echo_placeholder': [...CHAT, ...RESPONSES],
  'reasoning.sealed': RESPONSES,
  'reasoning.refused_seal': RESPONSES,
  'tools.custom': RESPONSES,
  'tools.signature': CHAT,
  usage: CHAT,
  betas: MESSAGES,
}

/** The formats in which a word has a meaning; undefined if it is allowed in every format. */
export function wiresOfWord(path: string, value: unknown): readonly WireName[] | undefined {
  const [group = ''] = path.split('.')
  return WORDS[path] ?? WORDS[`${path}: ${String(value)}`] ?? WORDS[group]
}
