/**
 * Dialect words (keys under `dialect` in the catalogue) that were renamed, moved or dropped, with their replacements. Used by
 * `migrate-words` and by the errors about old words. Some were replaced because YAML 1.1 reads their values as booleans, some
 * because a value such as `''` or 0 meant "none", and some to group related facts.
 */

import { flowText } from './edit.ts'
import type { Path } from './source.ts'

/** Replacements for an old word: pairs of a path below `dialect` and a value. */
export type Successors = readonly (readonly [path: string, value: unknown])[]

interface OldWord {
  /** The old word's dot-separated path below `dialect`. */
  readonly path: string
  /**
   * Returns the replacements for the word with this value; an empty list if the word is simply removed. Null if the old word
   * never took this value, so that a current word or group with the same path is meant, or if a dropped word with this value
   * has no replacement.
   */
  readonly successors: (value: unknown) => Successors | null
  /** True if the word was dropped without a replacement. */
  readonly isGone?: true
}

/** A word that moved to the path `goal`. `values` maps each renamed value to its new name. */
function moved(path: string, goal: string, values: Readonly<Record<string, unknown>> = {}): OldWord {
  return { path, successors: value => [[goal, renamed(value, values)]] }
}

/** A word that kept its path but not all of its values. `values` maps each renamed value to its new name. */
function reworded(path: string, values: Readonly<Record<string, unknown>>): OldWord {
  return { path, successors: value => (isAmong(value, values) ? [[path, renamed(value, values)]] : null) }
}

/**
 * A word that was dropped. If its value is `nothing`, it had no effect and is simply removed; for other values there is no
 * replacement.
 */
function gone(path: string, nothing: unknown): OldWord {
  return { path, successors: value => (value === nothing ? [] : null), isGone: true }
}

function nameOf(value: unknown): string {
  return Array.isArray(value) ? JSON.stringify(value) : String(value)
}

function isAmong(value: unknown, values: Readonly<Record<string, unknown>>): boolean {
  const isPlain = value === null || typeof value !== 'object' || Array.isArray(value)
  return isPlain && Object.hasOwn(values, nameOf(value))
}

function renamed(value: unknown, values: Readonly<Record<string, unknown>>): unknown {
  return isAmong(value, values) ? values[nameOf(value)] : value
}

const EMPTY_TEXT = { '': null }

function betaSuccessors(value: unknown): Successors | null {
  if (!Array.isArray(value)) return null
  if (value.includes('*')) return [['betas.unlisted', 'pass']]
  return [
    ['betas.unlisted', 'drop'],
    ['betas.flags', Object.fromEntries(value.map(flag => [String(flag), {}]))],
  ]
}

const WORDS: readonly OldWord[] = [
  moved('max_tokens_field', 'output.cap_field'),
  gone('max_tokens_default', 0),
  moved('choices_max', 'output.choices_max'),
  moved('system_role', 'turns.system_role'),
  moved('mid_system', 'turns.mid_system'),
  moved('alternate_roles', 'turns.alternate'),
  moved('prefill', 'turns.prefill', { yes: 'continue', no: 'unsupported', true: 'continue', false: 'unsupported' }),
  moved('thread', 'turns.threads'),
  moved('text_content', 'content.text'),
  moved('image_url', 'content.image_url'),
  moved('images_unsupported', 'content.images_unsupported'),
  moved('documents', 'content.documents'),
  moved('cache_control', 'content.cache_control'),
  {
    path: 'sampling',
    successors: value =>
      typeof value === 'object'
        ? null
        : [
            [
              'sampling.parameters',
              renamed(value, { full: 'all', none: null, none_when_thinking: 'all_unless_thinking' }),
            ],
          ],
  },
  moved('temperature_max', 'sampling.temperature_max'),
  moved('top_k', 'sampling.top_k'),
  moved('stop_max', 'sampling.stop_max'),
  reworded('reasoning.parameter', { none: null }),
  reworded('reasoning.levels', { '[]': null }),
  moved('reasoning.on_by_default', 'reasoning.by_default'),
  moved('reasoning.off', 'reasoning.disable', { yes: 'allowed', no: 'refused', true: 'allowed', false: 'refused' }),
  reworded('reasoning.display', { true: 'on_request', false: 'always' }),
  reworded('reasoning.budget_field', { none: null }),
  moved('reasoning.with_tools', 'reasoning.beside_tools', { yes: 'accepted', true: 'accepted', absent: 'refused' }),
  moved('reasoning_echo', 'reasoning.echo'),
  moved('reasoning_echo_placeholder', 'reasoning.echo_placeholder', EMPTY_TEXT),
  moved('reasoning_tag', 'reasoning.tag', EMPTY_TEXT),
  moved('reasoning_field', 'reasoning.field'),
  gone('on_unsupported', 'strip'),
  moved('forced_tool_choice', 'tools.forced', {
    yes: 'accepted',
    no: 'refused',
    true: 'accepted',
    false: 'refused',
  }),
  moved('parallel_tool_calls', 'tools.parallel_flag'),
  moved('tool_name_max', 'tools.name_max'),
  moved('tool_name_start', 'tools.name_start'),
  moved('tool_id', 'tools.call_id'),
  moved('tool_schema', 'tools.schema'),
  moved('tool_strict', 'tools.strict'),
  moved('tool_result_images', 'tools.result_images'),
  moved('server_tools', 'tools.left_out', { reject: null, drop: ['*'] }),
  moved('thought_signature_path', 'tools.signature.path', EMPTY_TEXT),
  moved('thought_signature_placeholder', 'tools.signature.placeholder', EMPTY_TEXT),
  {
    path: 'structured_output',
    successors: value => (typeof value === 'object' ? null : [['structured_output.method', value]]),
  },
  {
    path: 'usage_cached_paths',
    successors: value => {
      const pointers = Array.isArray(value) ? value.map(pointer => `/usage${String(pointer)}`) : []
      return [['usage.cached', pointers.length === 0 ? null : pointers]]
    },
  },
  moved('usage_output', 'usage.output_counts', { completion: 'all', total_less_prompt: 'without_reasoning' }),
  moved('stream_options', 'usage.stream_options'),
  moved('user_field', 'end_user.field', { none: null }),
  moved('user_max', 'end_user.length_max'),
  moved('user_characters', 'end_user.characters'),
  { path: 'betas', successors: betaSuccessors },
  moved('effort_beta', 'betas.effort', EMPTY_TEXT),
]

const byPath = new Map(WORDS.map(word => [word.path, word]))

/** Dialect groups that contain replacements of old words. */
const GROUPS = new Set(WORDS.flatMap(({ successors }) => successors('') ?? []).map(([goal]) => goal.split('.')[0]))

export function isGroup(path: string): boolean {
  return GROUPS.has(path)
}

/**
 * Returns the replacements for an old word with this value; an empty list if the word is simply removed. Null if this is not an
 * old word, or if its meaning can no longer be expressed.
 */
export function successorsOf(path: string, value: unknown): Successors | null {
  return byPath.get(path)?.successors(value) ?? null
}

/** Whether this word was dropped without a replacement. */
export function isGone(path: string): boolean {
  return byPath.get(path)?.isGone === true
}

/** The former name of `endpoints` in rules and extras. It was replaced because YAML 1.1 reads `on` as true. */
export const OLD_ENDPOINTS_KEY = 'on'
export const ENDPOINTS_KEY = 'endpoints'

/** Whether a missing key is present under its old name. */
export function isUnderOldName(key: unknown, holder: unknown): boolean {
  return key === ENDPOINTS_KEY && Object.hasOwn(Object(holder), OLD_ENDPOINTS_KEY)
}

export interface OldWordFound {
  readonly message: string
  /** The replacement as YAML; null if the old meaning can no longer be expressed. */
  readonly now: string | null
}

/** Explains a value that the schema rejects if it belongs to an old word. Null if there is no old word at this path. */
export function oldWordAt(path: Path, value: unknown): OldWordFound | null {
  const key = String(path.at(-1))
  const holder = path.at(-2)
  const isField = path.at(-4) === 'extras' && path.at(-3) === 'fields'
  if (key === OLD_ENDPOINTS_KEY && (path.at(-3) === 'rules' || isField) && holder !== undefined) {
    return { message: `"${key}" is an old word`, now: `${ENDPOINTS_KEY}: ${flowText(value)}` }
  }
  const below = path.slice(path.lastIndexOf('dialect') + 1).join('.')
  if (!path.includes('dialect')) return null
  const successors = successorsOf(below, value)
  if (successors === null) return isGone(below) ? { message: `"${key}" is an old word`, now: null } : null
  const isReworded = successors.some(([goal]) => goal === below)
  const message = isReworded ? `"${key}" cannot be ${JSON.stringify(value)} any more` : `"${key}" is an old word`
  return {
    message,
    now: successors.length === 0 ? null : yamlOf(successors, path.at(-2) === 'dialect' ? '' : `${String(holder)}.`),
  }
}

/** Writes the replacements as YAML, with paths relative to the prefix `within`. */
function yamlOf(successors: Successors, within: string): string {
  const root: Record<string, unknown> = {}
  for (const [goal, value] of successors) {
    const steps = (goal.startsWith(within) ? goal.slice(within.length) : goal).split('.')
    const last = steps.pop() as string
    let holder = root
    for (const step of steps) {
      holder[step] ??= {}
      holder = holder[step] as Record<string, unknown>
    }
    holder[last] = value
  }
  return flowText(root).slice(2, -2)
}
