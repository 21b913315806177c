/** Generates valid instances of a JSON Schema, for tool arguments and structured replies. */

import { isObject, type Json, type JsonObject, listOf } from './json.ts'
import type { Hints } from './model.ts'
import { numberFor, stringFor } from './schema-scalars.ts'

const LIMITS = { depth: 24, nodes: 5_000, items: 200 } as const

/** Names of flags that make a tool ask people for approval, or act without limits. */
const RISKY_SWITCH = /approval|background|force|dangerous/i

interface Walk {
  readonly root: Json
  readonly hints: Hints
  nodesLeft: number
}

/**
 * Generates an instance that has only the required properties. For contradictory schemas, and for those that exceed the limits,
 * it may be invalid.
 */
export function instanceOf(schema: Json, hints: Hints): Json {
  return build(schema, 'value', 0, { root: schema, hints, nodesLeft: LIMITS.nodes })
}

function build(raw: Json | undefined, name: string, depth: number, walk: Walk): Json {
  walk.nodesLeft -= 1
  if (!isObject(raw)) return raw === false ? null : stringFor({}, name, walk.hints)
  if (walk.nodesLeft < 0 || depth > LIMITS.depth) return null
  const schema = flatten(raw, walk, 0)
  if ('const' in schema) return schema.const ?? null
  if (Array.isArray(schema.enum) && schema.enum.length > 0)
    return givenOption(name, schema.enum, walk) ?? pickEnum(schema.enum, schema)
  const option = listOf(schema.anyOf ?? schema.oneOf)
  if (option.length > 0)
    return build(
      mergeSchemas(without(schema, ['anyOf', 'oneOf']), pickOption(option, depth, walk)),
      name,
      depth + 1,
      walk,
    )
  switch (typeOf(schema)) {
    case 'object':
      return buildObject(schema, depth, walk)
    case 'array':
      return buildArray(schema, name, depth, walk)
    case 'boolean':
      return !RISKY_SWITCH.test(name)
    case 'null':
      return null
    case 'integer':
    case 'number':
      return numberFor(schema, walk.hints)
    default:
      return givenText(name, walk) ?? stringFor(schema, name, walk.hints)
  }
}

function givenOption(name: string, options: readonly Json[], walk: Walk): Json | undefined {
  const value = walk.hints.given?.get(name)
  return options.find(option => option !== null && option === value)
}

function givenText(name: string, walk: Walk): string | null {
  const value = walk.hints.given?.get(name)
  return typeof value === 'string' ? value : null
}

/** Resolves `$ref` and merges `allOf` into one schema object. */
function flatten(schema: JsonObject, walk: Walk, hops: number): JsonObject {
  walk.nodesLeft -= 1
  if (walk.nodesLeft < 0 || hops >= LIMITS.depth) return without(schema, ['$ref', 'allOf'])
  let flat = schema
  if (typeof schema.$ref === 'string') {
    const target = resolve(walk.root, schema.$ref)
    const rest = without(schema, ['$ref'])
    flat = isObject(target) ? mergeSchemas(rest, flatten(target, walk, hops + 1)) : rest
  }
  if (Array.isArray(flat.allOf)) {
    let merged = without(flat, ['allOf'])
    for (const part of flat.allOf) if (isObject(part)) merged = mergeSchemas(merged, flatten(part, walk, hops + 1))
    flat = merged
  }
  return flat
}

/** Merges two schemas, neither of which may contain `$ref` or `allOf`. */
function mergeSchemas(left: JsonObject, right: Json | undefined): JsonObject {
  if (!isObject(right)) return left
  const merged: JsonObject = { ...left, ...right }
  if (isObject(left.properties) && isObject(right.properties)) {
    const properties = new Map(Object.entries(left.properties))
    for (const [key, value] of Object.entries(right.properties)) {
      const own = properties.get(key)
      properties.set(key, isObject(own) && isObject(value) ? { allOf: [own, value] } : value)
    }
    merged.properties = Object.fromEntries(properties)
  }
  if (Array.isArray(left.required) && Array.isArray(right.required)) {
    merged.required = [...new Set([...left.required, ...right.required])]
  }
  if (Array.isArray(left.enum) && Array.isArray(right.enum)) {
    const allowed = new Set(right.enum.map(value => JSON.stringify(value)))
    merged.enum = left.enum.filter(value => allowed.has(JSON.stringify(value)))
  }
  for (const key of ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties']) {
    merged[key] = bound(left[key], right[key], Math.max)
  }
  for (const key of ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems']) {
    merged[key] = bound(left[key], right[key], Math.min)
  }
  return merged
}

function bound(left: Json | undefined, right: Json | undefined, pick: (a: number, b: number) => number) {
  if (typeof left === 'number' && typeof right === 'number') return pick(left, right)
  return right ?? left
}

function buildObject(schema: JsonObject, depth: number, walk: Walk): Json {
  const properties = isObject(schema.properties) ? schema.properties : {}
  const names = new Set(listOf(schema.required).filter(entry => typeof entry === 'string'))
  const propertiesMin = typeof schema.minProperties === 'number' ? Math.min(schema.minProperties, LIMITS.items) : 0
  for (const name of Object.keys(properties)) if (names.size < propertiesMin) names.add(name)
  if (depth === 0)
    for (const name of walk.hints.given?.keys() ?? []) if (Object.hasOwn(properties, name)) names.add(name)
  for (let index = 1; names.size < propertiesMin; index += 1) names.add(`key${index}`)
  const entries: [string, Json][] = []
  for (const name of names) {
    const own = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties
    entries.push([name, build(own, name, depth + 1, walk)])
  }
  addDependents(schema, properties, entries, depth, walk)
  return Object.fromEntries(entries)
}

function addDependents(
  schema: JsonObject,
  properties: JsonObject,
  entries: [string, Json][],
  depth: number,
  walk: Walk,
) {
  if (!isObject(schema.dependentRequired)) return
  for (let index = 0; index < entries.length && index < LIMITS.items; index += 1) {
    for (const name of listOf(schema.dependentRequired[entries[index]![0]])) {
      if (typeof name !== 'string' || entries.some(([present]) => present === name)) continue
      entries.push([name, build(properties[name], name, depth + 1, walk)])
    }
  }
}

function buildArray(schema: JsonObject, name: string, depth: number, walk: Walk): Json {
  const given = walk.hints.given?.get(name)
  if (Array.isArray(given)) return given
  const prefix = listOf(schema.prefixItems ?? (Array.isArray(schema.items) ? schema.items : undefined))
  const rest = Array.isArray(schema.items) ? schema.additionalItems : schema.items
  // Deep in the schema, lists are empty, so that recursive schemas end.
  const usual = depth > LIMITS.depth / 3 ? 0 : 1
  const itemsMin = typeof schema.minItems === 'number' ? schema.minItems : Math.max(prefix.length, usual)
  const itemsMax = typeof schema.maxItems === 'number' ? schema.maxItems : LIMITS.items
  const length = Math.min(itemsMin, itemsMax, LIMITS.items)
  const items: Json[] = []
  const seen = new Set<string>()
  for (let index = 0; index < length; index += 1) {
    const contained = index === prefix.length && schema.contains !== undefined ? schema.contains : rest
    let item = build(prefix[index] ?? contained, name, depth + 1, walk)
    if (schema.uniqueItems === true) item = unlike(item, prefix[index] ?? rest, seen, walk)
    items.push(item)
  }
  return items
}

/** Varies an item until it differs from all `seen` items, as `uniqueItems` requires. */
function unlike(item: Json, itemSchema: Json | undefined, seen: Set<string>, walk: Walk): Json {
  const options = isObject(itemSchema) ? listOf(flatten(itemSchema, walk, 0).enum) : []
  let other = item
  for (let attempt = 0; attempt < LIMITS.items && seen.has(JSON.stringify(other)); attempt += 1) {
    if (options.length > 0) other = options[attempt % options.length]!
    else if (typeof item === 'number') other = item + attempt + 1
    else if (typeof item === 'boolean') other = !item
    else if (isObject(item)) other = { ...item, ...variation(item, attempt + 2) }
    else other = `${typeof item === 'string' ? item : 'item'}-${attempt + 2}`
  }
  seen.add(JSON.stringify(other))
  return other
}

function variation(item: JsonObject, number: number): JsonObject {
  for (const [key, value] of Object.entries(item)) {
    if (typeof value === 'string') return { [key]: `${value}-${number}` }
    if (typeof value === 'number') return { [key]: value + number }
  }
  return {}
}

/** Picks an option other than null if possible. Deep in the schema, prefers a scalar, so that recursive schemas end. */
function pickOption(options: readonly Json[], depth: number, walk: Walk): Json {
  const flat = options.map(option => (isObject(option) ? flatten(option, walk, 0) : option))
  const useful = flat.filter(option => isObject(option) && typeOf(option) !== 'null')
  const shallow = flat.filter(option => isObject(option) && !['object', 'array'].includes(typeOf(option)))
  if (depth > LIMITS.depth / 3 && shallow.length > 0) return shallow[0]!
  return useful[0] ?? flat[0] ?? null
}

function pickEnum(values: readonly Json[], schema: JsonObject): Json {
  const wanted = typeof schema.type === 'string' ? schema.type : null
  const typed = values.find(value => value !== null && (wanted === null || typeMatches(value, wanted)))
  return typed ?? values[0] ?? null
}

function typeMatches(value: Json, type: string): boolean {
  if (type === 'integer') return Number.isInteger(value)
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  return typeof value === type
}

function typeOf(schema: JsonObject): string {
  if (typeof schema.type === 'string') return schema.type
  const types = listOf(schema.type).filter(type => typeof type === 'string')
  if (types.length > 0) return types.find(type => type !== 'null') ?? 'null'
  if (schema.properties !== undefined || schema.required !== undefined) return 'object'
  if (schema.items !== undefined || schema.prefixItems !== undefined || schema.minItems !== undefined) return 'array'
  if (schema.minimum !== undefined || schema.maximum !== undefined || schema.multipleOf !== undefined) return 'number'
  return 'string'
}

/** Resolves a reference within the same document (`#`, `#/$defs/a`, `#name`); undefined for other references. */
function resolve(root: Json, reference: string): Json | undefined {
  if (reference === '#') return root
  if (!reference.startsWith('#/')) return undefined
  let value: Json | undefined = root
  for (const step of reference.slice(2).split('/')) {
    const key = unescaped(step).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(value)) value = value[Number(key)]
    else if (isObject(value) && Object.hasOwn(value, key)) value = value[key]
    else return undefined
  }
  return value
}

function unescaped(step: string): string {
  return step.replaceAll(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

function without(schema: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)))
}
