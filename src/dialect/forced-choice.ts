/** A tool that must be called, where the upstream takes that for a named one only. */

import type { ToolRequest } from '../conversation/request.ts'
import type { JsonValue } from '../lib/json.ts'
import type { DialectTools } from './words.ts'

/** The wish as such an upstream takes it: the only tool there is gets named, and of several the model chooses. */
export function nameOnlyTool(tools: ToolRequest, { forced }: Pick<DialectTools, 'forced'>): ToolRequest {
  if (forced !== 'named_only' || tools.choice?.mode !== 'any') return tools
  const name = onlyName(tools.definitions.map(tool => tool.name))
  return { ...tools, choice: name === null ? { mode: 'auto' } : { mode: 'tool', name } }
}

/** The name, where there is one tool and it has one. */
export function onlyName(names: readonly (JsonValue | undefined)[]): string | null {
  const [name] = names
  return names.length === 1 && typeof name === 'string' ? name : null
}
