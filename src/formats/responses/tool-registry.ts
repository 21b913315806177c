/**
 * The client's tools under names of one flat list: this format has namespaces, the others have not. A name stands for the
 * same tool wherever the request says it, in definitions, choices and calls of the history.
 */

import { hash } from '../../conversation/names.ts'
import type { ToolDefinition } from '../../conversation/request.ts'
import type { ClientTool } from './echo.ts'

const HASH_LENGTH = 8
const SEPARATOR = '__'

type Definition = Omit<ToolDefinition, 'name'>
/** Functions and custom tools share their names. */
type Named = Pick<ClientTool, 'name' | 'namespace'> & { readonly kind?: ClientTool['kind'] }

export class ToolRegistry {
  readonly #tools = new Map<string, { readonly tool: ClientTool; readonly definition: Definition }>()
  readonly #names = new Map<string, string>()
  readonly #taken = new Set<string>()

  /** What is defined twice counts as defined last. */
  define(tool: ClientTool, definition: Definition): void {
    this.#tools.set(keyOf(tool), { tool, definition })
  }

  has(tool: Named): boolean {
    return this.#tools.has(keyOf(tool))
  }

  /** To be called once all tools are defined: those without a namespace keep their names, whatever the others are called. */
  settle(): void {
    for (const [key, { tool }] of this.#tools) {
      if (tool.namespace === null && tool.kind !== 'tool_search') this.#give(key, tool.name)
    }
    for (const { tool } of this.#tools.values()) this.nameOf(tool)
  }

  /** The flat name of a tool; also of one that only the history knows. */
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

  /** By flat name. */
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
