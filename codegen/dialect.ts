/** Dialect facts: partial as authored, complete and in camelCase as the engine reads them. Both come from one schema. */

import { applySaid, NOTHING, type Said } from './layers.ts'
import type { Schema } from './schemas.ts'

export type Facts = Readonly<Record<string, unknown>>

/** Keys come from schemas, so there are few. */
const camelCased = new Map<string, string>()

export function camelCase(key: string): string {
  let cased = camelCased.get(key)
  if (cased === undefined) {
    cased = key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
    camelCased.set(key, cased)
  }
  return cased
}

/** Groups merge word by word; what is neither a group nor a mapping, an object with a default among it, replaces what was there. */
function isGroup(schema: Schema): boolean {
  return schema.properties !== undefined && schema.default === undefined
}

/** Keys of the operator's own, each with facts: they merge key by key too. */
function isMapping({ type, additionalProperties }: Schema): boolean {
  return type === 'object' && typeof additionalProperties === 'object'
}

/** What facts say, in camelCase and in the order of the schema. */
export function saidFacts(schema: Schema, facts: Facts | undefined): Said {
  if (facts === undefined) return NOTHING
  const said = new Map<string, unknown>()
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const value = facts[key]
    if (value === undefined) continue
    if (isGroup(property)) {
      const group = saidFacts(property, value as Facts)
      if (group.size > 0) said.set(camelCase(key), group)
    } else said.set(camelCase(key), isMapping(property) ? new Map(Object.entries(value as Facts)) : value)
  }
  return said
}

/** What every word says by default. Throws when one has no default: then a table could not be complete. */
export function saidByDefault(schema: Schema): Said {
  const said = new Map<string, unknown>()
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!isGroup(property) && property.default === undefined) {
      throw new Error(`${schema.title ?? 'schema'}: "${key}" needs a default`)
    }
    if (isGroup(property)) said.set(camelCase(key), saidByDefault(property))
    else if (isMapping(property)) said.set(camelCase(key), new Map(Object.entries(property.default as Facts)))
    else said.set(camelCase(key), property.default)
  }
  return said
}

/**
 * Merges layers of facts, later ones first in rank, over every default of the schema. Lists replace; null is a value like
 * others. Throws as `saidByDefault`.
 */
export function resolveFacts(schema: Schema, layers: readonly (Facts | undefined)[]): Record<string, unknown> {
  let resolved: Record<string, unknown> = applySaid({}, saidByDefault(schema))
  for (const layer of layers) resolved = applySaid(resolved, saidFacts(schema, layer))
  return resolved
}

/** The schema of what `resolveFacts` returns: every key there, in camelCase. */
export function resolvedSchema(schema: Schema, title: string): Schema {
  const properties = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const child = isGroup(property) ? resolvedSchema(property, title + pascalCase(key)) : property
    return [camelCase(key), child] as const
  })
  return {
    title,
    description: schema.description ?? title,
    type: 'object',
    additionalProperties: false,
    required: properties.map(([key]) => key),
    properties: Object.fromEntries(properties),
  }
}

function pascalCase(key: string): string {
  return key.charAt(0).toUpperCase() + camelCase(key).slice(1)
}
