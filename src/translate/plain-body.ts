/**
 * Plans same-format calls without parsing the large members of the body, such as the messages, if they are plain (see
 * `conversation/plain.ts`) and the upstream needs no changes in them. The rules here must agree with what dialects change:
 * `test/translate/plain-body.test.ts` compares plans made with and without the values, for every target of the catalogue.
 */

import { endsWithRole, hasRole, NOTE_INDEX } from '../conversation/plain.ts'
import { takesThinking } from '../dialect/messages/plan.ts'
import { FORMATS } from '../formats/index.ts'
import type { Dialect, WireName } from '../generated/types.ts'
import { type JsonObject, objectOrNull, unescapeKey } from '../lib/json.ts'
import { mayHold } from '../lib/json-shape.ts'
import { planSameFormat, type SameFormatCall, type SameFormatPlan } from './same-format.ts'

/** A request body. Some of its values may not have been parsed. */
export interface ReadableBody {
  readonly json: JsonObject
  /** The body with placeholders for the values that have not been parsed; the same as `json` if all have been. */
  readonly outline: JsonObject
  /** Numbers noted about the values that have not been parsed, indexed by `NOTE_INDEX`; null if all have been. */
  readonly unread: { readonly notes: readonly number[] } | null
}

type Call = Omit<SameFormatCall, 'body'> & { readonly body: ReadableBody }

/** Like `planSameFormat`, but parses the values of plain members only if the target may need changes in them. */
export function planReadable({ body, ...call }: Call): SameFormatPlan {
  const { outline, unread } = body
  if (unread !== null && leavesPlain(call.format, call.target.dialect, { outline, notes: unread.notes })) {
    const plan = planSameFormat({ ...call, body: outline })
    if (keepsPlaceholders(call.format, outline, plan)) return plan
  }
  return planSameFormat({ ...call, body: body.json })
}

/** Whether the plan leaves the unparsed members unchanged. Renaming a tool, for example, also changes earlier calls to it. */
function keepsPlaceholders(format: WireName, outline: JsonObject, { body, reply }: SameFormatPlan): boolean {
  return reply.names === null && FORMATS[format].plain.shape.names.every(key => body[key] === outline[key])
}

interface Unread {
  readonly outline: JsonObject
  readonly notes: readonly number[]
}

/** Whether the dialect leaves plain members as they are, apart from additions that it makes to every body. */
function leavesPlain(format: WireName, dialect: Dialect, unread: Unread): boolean {
  return leavesTools(dialect, unread) && LEAVES[format](dialect, unread)
}

/** Longest call id that every upstream accepts, in characters. */
const ID_LENGTH_MAX = 64

function leavesTools({ tools }: Dialect, { outline, notes }: Unread): boolean {
  const idMax = tools.callId === 'alphanumeric_9' ? 0 : ID_LENGTH_MAX
  if (notes[NOTE_INDEX.names]! > tools.nameMax || notes[NOTE_INDEX.ids]! > idMax) return false
  if (outline.tools === undefined) return true
  // Forcing the only tool by name requires reading that name.
  const mayName = tools.forced === 'named_only' && outline.tool_choice !== undefined
  return tools.schema === 'pass' && (tools.strict === 'pass' || notes[NOTE_INDEX.strict] === 0) && !mayName
}

const LEAVES: Readonly<Record<WireName, (dialect: Dialect, unread: Unread) => boolean>> = {
  messages(dialect, { outline, notes }) {
    const { turns, content, betas } = dialect
    if (content.text === 'string' || turns.alternate || endsWithRole(notes, 'assistant')) return false
    if (hasRole(notes, 'system') && turns.midSystem !== 'keep') return false
    // Planning new thinking settings requires reading the end of the history.
    const thinking = objectOrNull(outline.thinking)
    if (thinking !== null && !takesThinking(thinking, dialect)) return false
    return Object.values(betas.flags).every(({ fields = [] }) => !fields.some(isInPlainMessages))
  },
  chat_completions({ turns, content, reasoning, tools }, { notes }) {
    if (content.text === 'string' && notes[NOTE_INDEX.types] !== 0) return false
    if (turns.alternate || turns.midSystem !== 'keep' || turns.prefill === 'user_turn') return false
    if (hasRole(notes, 'developer') && turns.systemRole !== 'developer') return false
    if (!hasRole(notes, 'assistant')) return true
    if (tools.arguments === 'object') return false
    return reasoning.echo !== 'always' && (tools.signature.path === null || tools.signature.placeholder === null)
  },
  responses({ turns, reasoning }, { notes }) {
    if (turns.midSystem !== 'keep' || turns.prefill === 'user_turn') return false
    if (hasRole(notes, 'developer') && turns.systemRole === 'system') return false
    return reasoning.field !== 'item_content' || reasoning.echo !== 'always'
  },
}

function isInPlainMessages(pointer: string): boolean {
  return mayHold(FORMATS.messages.plain.shape, pointer.split('/').slice(1).map(unescapeKey))
}
