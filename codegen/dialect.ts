/** Dialect facts: partial as authored, complete and in camelCase as the engine reads them. Both come from one schema. */

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

/**
 * Merges layers of facts, later ones first in rank, and fills in every default of the schema. Nested objects merge key by
 * key, lists replace; null is a value like others. Throws when a word of the schema has no default: then a table could not
 * be complete.
 */
export function resolveFacts(schema: Schema, layers: readonly (Facts | undefined)[]): Record<string, unknown> {
  const resolved: Record<string, unknown> = {}
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    const values = layers.map(layer => layer?.[key]).filter(value => value !== undefined)
    if (property.properties !== undefined) {
      resolved[camelCase(key)] = resolveFacts(property, values as Facts[])
    } else {
      if (property.default === undefined) throw new Error(`${schema.title ?? 'schema'}: "${key}" needs a default`)
      const said = values.length === 0 ? property.default : values.at(-1)
      resolved[camelCase(key)] = isMapping(property) ? Object.assign({}, ...values) : said
    }
  }
  return resolved
}

/** Keys of the operator's own, each with facts: they merge key by key too. */
function isMapping({ type, additionalProperties }: Schema): boolean {
  return type === 'object' && typeof additionalProperties === 'object'
}

/** The schema of what `resolveFacts` returns: every key there, in camelCase. */
export function resolvedSchema(schema: Schema, title: string): Schema {
  const properties = Object.entries(schema.properties ?? {}).map(([key, property]) => {
    const child = property.properties === undefined ? property : resolvedSchema(property, title + pascalCase(key))
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
