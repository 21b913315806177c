/**
 * Completes settings, such as a dialect. The YAML states only those that differ from the defaults, in snake_case; the gateway
 * reads all of them, in camelCase. One schema describes both forms.
 */

import { mergeFacts, NO_FACTS, type StatedFacts } from './layers.ts'
import type { Schema } from './schemas.ts'

export type Facts = Readonly<Record<string, unknown>>

/** A cache. Its size is bounded, because all keys come from schemas. */
const camelCased = new Map<string, string>()

export function camelCase(key: string): string {
  let cased = camelCased.get(key)
  if (cased === undefined) {
    cased = key.replace(/_([a-z0-9])/g, (_match, letter: string) => letter.toUpperCase())
    camelCased.set(key, cased)
  }
  return cased
}

/**
 * Whether the schema describes a group of settings. Groups are merged setting by setting. Any other value is replaced as a
 * whole, even an object if the schema gives it a default.
 */
function isGroup(schema: Schema): boolean {
  return schema.properties !== undefined && schema.default === undefined
}

/** Whether the schema describes a mapping whose keys the operator chooses. Mappings are merged key by key. */
function isMapping({ type, additionalProperties }: Schema): boolean {
  return type === 'object' && typeof additionalProperties === 'object'
}

/** Returns the settings that `facts` states, in camelCase and in the schema's order. */
export function statedFacts(schema: Schema, facts: Facts | undefined): StatedFacts {
  if (facts === undefined) return NO_FACTS
  const stated = new Map<string, unknown>()
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const value = facts[key]
    if (value === undefined) continue
    if (isGroup(property)) {
      const group = statedFacts(property, value as Facts)
      if (group.size > 0) stated.set(camelCase(key), group)
    } else stated.set(camelCase(key), isMapping(property) ? new Map(Object.entries(value as Facts)) : value)
  }
  return stated
}

/** Returns the defaults of all settings. Throws if a setting has none, because the generated tables must be complete. */
export function factsByDefault(schema: Schema): StatedFacts {
  const stated = new Map<string, unknown>()
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!isGroup(property) && property.default === undefined) {
      throw new Error(`${schema.title ?? 'schema'}: "${key}" needs a default`)
    }
    if (isGroup(property)) stated.set(camelCase(key), factsByDefault(property))
    else if (isMapping(property)) stated.set(camelCase(key), new Map(Object.entries(property.default as Facts)))
    else stated.set(camelCase(key), property.default)
  }
  return stated
}

/**
 * Merges layers of settings over the schema's defaults; later layers win. A list replaces the earlier list, and null is a value
 * like any other. Throws if a setting has no default.
 */
export function resolveFacts(schema: Schema, layers: readonly (Facts | undefined)[]): Record<string, unknown> {
  let resolved: Record<string, unknown> = mergeFacts({}, factsByDefault(schema))
  for (const layer of layers) resolved = mergeFacts(resolved, statedFacts(schema, layer))
  return resolved
}

/** The schema of what `resolveFacts` returns: all keys required, in camelCase. */
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
