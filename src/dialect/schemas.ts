/** Reduces JSON schemas of tools and replies to the subset that the target supports. */

import { arrayOrEmpty, isObject, type JsonObject, type JsonValue } from '../lib/json.ts'
import { withoutMembers } from './copy.ts'
import { withExplicitTypes, withPlainRoot } from './explicit-types.ts'
import type { Dialect } from './words.ts'

type SchemaForm = Dialect['tools']['schema']

/** Deepest nesting examined. Deeper schemas do not count as strict. */
const DEPTH_MAX = 64

/**
 * Returns a tool's parameters in the form that every upstream accepts: an object schema with `properties`, and without a choice
 * at its root. A schema that already has this form is returned as is.
 */
export function toolSchema(schema: JsonValue | undefined, form: SchemaForm): JsonObject {
  const given = isObject(schema) ? schema : {}
  const kept = given.$schema === undefined ? given : withMetaSchema(given, form)
  const plain = withPlainRoot(kept)
  const object = plain.type === undefined ? { type: 'object', ...plain } : plain
  const complete = isObject(object.properties) ? object : { ...object, properties: {} }
  return form === 'explicit_types' ? withExplicitTypes(complete) : complete
}

/** Returns the schema of a tool in a same-format call, which is changed only where the upstream would refuse it. */
export function keptToolSchema(schema: JsonObject | null, form: SchemaForm): JsonObject | null {
  if (schema === null) return form === 'required' || form === 'explicit_types' ? toolSchema(undefined, form) : null
  if (form === 'explicit_types') return toolSchema(schema, form)
  return form === 'no_meta_schema' ? withoutMembers(schema, ['$schema']) : schema
}

/** Puts `$schema` first, or leaves it out. */
function withMetaSchema({ $schema: metaSchema, ...rest }: JsonObject, form: SchemaForm): JsonObject {
  return form === 'pass' || form === 'required' ? { $schema: metaSchema, ...rest } : rest
}

/** Keywords that rule out strict mode in the chat format. */
const NOT_STRICT = new Set(['allOf', 'not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas'])
const NOT_STRICT_OBJECT = new Set(['patternProperties', 'propertyNames', 'minProperties', 'maxProperties'])

/** Whether chat upstreams accept this schema as strict: all objects are closed, and all properties required. */
export function qualifiesForStrictChat(schema: JsonObject): boolean {
  if (schema.type !== 'object' || schema.anyOf !== undefined) return false
  return everySchema(schema, node => {
    const keys = Object.keys(node)
    if (keys.some(key => NOT_STRICT.has(key) || NOT_STRICT_OBJECT.has(key))) return false
    if (typeof node.pattern === 'string' && /\(\?[=!<]/.test(node.pattern)) return false
    if (!isObjectSchema(node)) return true
    const required = new Set(arrayOrEmpty(node.required))
    const properties = isObject(node.properties) ? Object.keys(node.properties) : []
    return node.additionalProperties === false && properties.every(property => required.has(property))
  })
}

/**
 * Whether messages upstreams accept this schema as strict: all objects are closed, nothing is recursive, and there are no
 * keywords that they refuse (`For 'integer' type, property 'minimum' is not supported`).
 */
export function qualifiesForStrictMessages(schema: JsonObject): boolean {
  if (isRecursive(schema)) return false
  return everySchema(schema, node => {
    if (!Object.entries(node).every(([key, value]) => isStrictKeyword(key, value))) return false
    return !isObjectSchema(node) || node.additionalProperties === false
  })
}

function isStrictKeyword(key: string, value: JsonValue | undefined): boolean {
  if (key === 'pattern') return typeof value === 'string' && !/\(\?[=!<]|\\[bB1-9]/.test(value)
  return key === '$schema' || !isDescribed(key, value)
}

/** What messages upstreams allow in all strict schemas of a request together (vendor documentation, read 2026-11). */
const STRICT_SCHEMAS_MAX = 20
const OPTIONAL_PROPERTIES_MAX = 24
const UNIONS_MAX = 16

/** Whether messages upstreams accept these strict schemas in one request. */
export function fitStrictMessages(schemas: readonly JsonObject[]): boolean {
  let optional = 0
  let unions = 0
  const count = ({ properties, required }: JsonObject) => {
    const always = new Set(arrayOrEmpty(required))
    for (const [name, property] of isObject(properties) ? Object.entries(properties) : []) {
      if (!always.has(name)) optional++
      if (isObject(property) && (Array.isArray(property.type) || property.anyOf !== undefined)) unions++
    }
    return true
  }
  for (const schema of schemas) everySchema(schema, count)
  return schemas.length <= STRICT_SCHEMAS_MAX && optional <= OPTIONAL_PROPERTIES_MAX && unions <= UNIONS_MAX
}

/**
 * Returns the reply schema for a chat upstream, whose root must be an object (`schema must be a JSON Schema of 'type: "object"'`):
 * a reference at the root is resolved. Null for any other root.
 */
export function objectRoot({ $ref, ...schema }: JsonObject): JsonObject | null {
  const resolved = typeof $ref === 'string' ? { ...definition(schema, $ref), ...schema } : schema
  return resolved.type === 'object' && withPlainRoot(resolved) === resolved ? resolved : null
}

/** Keywords that messages upstreams accept in a reply schema. All others are moved to the description. */
const REPLY_KEYWORDS = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf', 'allOf'],
  ...['$ref', '$defs', 'definitions', 'title', 'description', 'default', 'format', 'minItems'],
])
const REPLY_FORMATS = new Set([
  ...['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid'],
])

/**
 * Returns the reply schema for a messages upstream: objects are closed, and unsupported constraints are described in text. Null
 * if the schema is recursive or has objects with arbitrary keys, which cannot be expressed, or if it is too large.
 */
export function replySchema(schema: JsonObject): JsonObject | null {
  if (isRecursive(schema) || !everySchema(schema, node => !hasFreeKeys(node))) return null
  const closed = closeSchema(schema)
  return fitStrictMessages([closed]) ? closed : null
}

function closeSchema(node: JsonObject): JsonObject {
  const { oneOf, ...others } = node
  const source: JsonObject = oneOf !== undefined && node.anyOf === undefined ? { ...others, anyOf: oneOf } : node
  const kept: [string, JsonValue | undefined][] = []
  const described: string[] = []
  for (const [key, value] of Object.entries(source)) {
    if (key === '$schema' || key === 'description') continue
    if (isDescribed(key, value)) described.push(`${key}: ${JSON.stringify(value)}`)
    else kept.push([key, closeValue(key, value)])
  }
  const description = [source.description, described.length > 0 ? `{${described.join(', ')}}` : undefined]
    .filter(text => typeof text === 'string')
    .join('\n\n')
  return {
    ...Object.fromEntries(kept),
    ...(isObjectSchema(source) && { additionalProperties: false }),
    ...(description !== '' && { description }),
  }
}

/** Whether a keyword goes into the description, because the provider does not support it. */
function isDescribed(key: string, value: JsonValue | undefined): boolean {
  if (key === 'format') return typeof value !== 'string' || !REPLY_FORMATS.has(value)
  if (key === 'minItems') return value !== 0 && value !== 1
  return !REPLY_KEYWORDS.has(key)
}

function closeValue(key: string, value: JsonValue | undefined): JsonValue | undefined {
  if (key === 'properties' || key === '$defs' || key === 'definitions') {
    if (!isObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, closeChild(child)]))
  }
  if (key === 'items' || key === 'anyOf' || key === 'allOf') {
    return Array.isArray(value) ? value.map(closeChild) : closeChild(value)
  }
  return value
}

function closeChild<Value extends JsonValue | undefined>(child: Value): Value | JsonObject {
  return isObject(child) ? closeSchema(child) : child
}

function isObjectSchema(node: JsonObject): boolean {
  return (
    node.type === 'object' || (Array.isArray(node.type) && node.type.includes('object')) || isObject(node.properties)
  )
}

function hasFreeKeys(node: JsonObject): boolean {
  if (isObject(node.additionalProperties) || isObject(node.patternProperties)) return true
  // An object without named properties means "any object".
  return isObjectSchema(node) && node.additionalProperties !== false && !isObject(node.properties)
}

/** Whether `test` holds for the schema and all nested schemas. False if they are nested too deeply. */
function everySchema(schema: JsonObject, test: (node: JsonObject) => boolean, depth = 0): boolean {
  if (depth > DEPTH_MAX || !test(schema)) return false
  return childSchemas(schema).every(child => everySchema(child, test, depth + 1))
}

function childSchemas(node: JsonObject): JsonObject[] {
  const named = [node.properties, node.$defs, node.definitions].flatMap(group =>
    isObject(group) ? Object.values(group) : [],
  )
  const listed = [node.anyOf, node.oneOf, node.allOf, node.items].flatMap(group =>
    Array.isArray(group) ? group : [group],
  )
  return [...named, ...listed, node.additionalProperties].filter(isObject)
}

/**
 * Whether a definition refers to itself, directly or not. True as well if a reference cannot be resolved. Each definition is
 * examined once, because a few that refer to each other several times have millions of paths.
 */
function isRecursive(root: JsonObject): boolean {
  const open = new Set<JsonObject>()
  const done = new Set<JsonObject>()
  const visit = (node: JsonObject, depth: number): boolean => {
    if (depth > DEPTH_MAX || (typeof node.$ref === 'string' && visitDefinition(node.$ref, depth))) return true
    const { $defs: _defs, definitions: _definitions, ...used } = node
    return childSchemas(used).some(child => visit(child, depth + 1))
  }
  const visitDefinition = (reference: string, depth: number): boolean => {
    const target = definition(root, reference)
    if (target === null || open.has(target)) return true
    if (done.has(target)) return false
    open.add(target)
    const isFaulty = visit(target, depth + 1)
    open.delete(target)
    done.add(target)
    return isFaulty
  }
  return visit(root, 0)
}

function definition(root: JsonObject, reference: string): JsonObject | null {
  const match = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference)
  const group = match && root[match[1]!]
  const target = isObject(group) ? group[match![2]!.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined
  return isObject(target) ? target : null
}
