/**
 * Gives the client's tools flat names, because other formats have no namespaces. A tool has the same name throughout the
 * request: in its definition, in tool choices and in the calls of the history.
 */

import { hash } from '../../conversation/names.ts'
import type { ToolDefinition } from '../../conversation/request.ts'
import type { ClientTool } from './echo.ts'

const HASH_LENGTH = 8
const SEPARATOR = '__'

type Definition = Omit<ToolDefinition, 'name'>
/** What identifies a tool. Only the kind `tool_search` matters: functions and custom tools share one set of names. */
type Named = Pick<ClientTool, 'name' | 'namespace'> & { readonly kind?: ClientTool['kind'] }

export class ToolRegistry {
  readonly #tools = new Map<string, { readonly tool: ClientTool; readonly definition: Definition }>()
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** Adds a tool. If a tool is defined twice, the last definition wins. */
  define(tool: ClientTool, definition: Definition): void {
    this.#tools.set(keyOf(tool), { tool, definition })
  }

  has(tool: Named): boolean {
    return this.#tools.has(keyOf(tool))
  }

  /**
   * Names all tools; call this after the last `define`. Tools without a namespace come first, so that they keep their names.
   */
  assignNames(): void {
    for (const [key, { tool }] of this.#tools) {
      if (tool.namespace === null && tool.kind !== 'tool_search') this.#give(key, tool.name)
    }
    for (const { tool } of this.#tools.values()) this.nameOf(tool)
  }

  /** Returns the flat name of a tool, even if the tool only occurs in the history. */
  nameOf(tool: Named): string {
    const key = keyOf(tool)
    const known = this.#names.get(key)
    if (known !== undefined) return known
    const wanted = tool.namespace === null ? tool.name : `${tool.namespace}${SEPARATOR}${tool.name}`
    for (let attempt = 0; ; attempt++) {
      const name = attempt === 0 ? wanted : `${wanted}_${hash(`${key} ${attempt}`).slice(0, HASH_LENGTH)}`
      if (!this.#taken.has(name)) return this.#give(key, name)
    }
  }

  definitions(): ToolDefinition[] {
    return [...this.#tools.values()].map(({ tool, definition }) => ({ name: this.nameOf(tool), ...definition }))
  }

  /** Returns the client's tools, keyed by flat name. */
  clientTools(): ReadonlyMap<string, ClientTool> {
    return new Map([...this.#tools.values()].map(({ tool }) => [this.nameOf(tool), tool]))
  }

  #give(key: string, name: string): string {
    this.#names.set(key, name)
    this.#taken.add(name)
    return name
  }
}

function keyOf({ kind, namespace, name }: Named): string {
  return JSON.stringify([kind === 'tool_search', namespace, name])
}
