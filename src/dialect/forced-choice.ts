/** For upstreams that cannot force a tool call, or only one of a named tool. */

import type { ToolNames } from '../conversation/names.ts'
import type { JsonValue } from '../lib/json.ts'

/** Returns the only tool's name; null if there are several tools or it has no name. */
export function onlyName(names: readonly (JsonValue | undefined)[]): string | null {
  const [name] = names
  return names.length === 1 && typeof name === 'string' ? name : null
}

/** A tool call that the client forces and the upstream does not. */
export interface UnforcedCall {
  /** The tool; null for any tool. */
  readonly name: string | null
}

/** Tells the model to make the call. */
export function callInstruction({ name }: UnforcedCall, names: ToolNames | null): string {
  const tool = name === null ? 'one of your tools' : `the tool ${names?.upstream(name) ?? name}`
  return `Reply with a call of ${tool}, not with text.`
}
