/**
 * Rewrites tool schemas for upstreams whose validator wants a type at every value, and at one place only. The rules are those of
 * Moonshot's validator (github.com/MoonshotAI/walle, read 2026-11) and of reports by its users: the root is an object without a
 * choice, a choice has its types in its branches, references lead to `$defs`. What cannot be kept becomes wider, so values that fit
 * the given schema fit the result; but a schema without a type is taken to mean the type that its keywords are for.
 */

import {
  arrayOrEmpty,
  atPointer,
  isObject,
  type JsonObject,
  type JsonValue,
  objectOrNull,
  textOrNull,
} from '../lib/json.ts'
import { combined, withMember, withoutMembers } from './copy.ts'

/** Deepest nesting rewritten. */
const DEPTH_MAX = 64
/** How many characters copies may add to a schema. Beyond that, references and choices become less exact. */
const growthMax = (size: number) => Math.max(4 * size, Math.min(10 * size, 32_768))

/** What may stand beside a reference and beside `anyOf`. */
const NOTES: ReadonlySet<string> = new Set(['description', 'title', 'default', 'examples', '$defs'])
const TYPES = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'] as const
/** Keywords that only mean something for values of one type. */
const TYPE_OF: ReadonlyMap<string, string> = new Map([
  ...['properties', 'required', 'additionalProperties', 'propertyNames'].map(key => [key, 'object'] as const),
  ...['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems'].map(key => [key, 'array'] as const),
  ...['minLength', 'maxLength', 'pattern', 'format'].map(key => [key, 'string'] as const),
])

/** Returns the schema itself if the upstream takes it as it is. */
export function withExplicitTypes(schema: JsonObject): JsonObject {
  const rewritten = new Rewriting(schema).root()
  return JSON.stringify(rewritten) === JSON.stringify(schema) ? schema : rewritten
}

/** What OpenAI refuses at the root of a tool's schema, and Anthropic for the most part (errors that users report, read 2026-11). */
const NOT_AT_THE_ROOT = ['$ref', 'anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const']

/** Returns the schema of an object without a reference or a choice at its root; the schema itself if it has none there. */
export function withPlainRoot(schema: JsonObject): JsonObject {
  return NOT_AT_THE_ROOT.some(key => schema[key] !== undefined) ? new Rewriting(schema).plain(schema) : schema
}

class Rewriting {
  readonly #root: JsonObject
  /** Characters that copies may still add; null until there is one. */
  #left: number | null = null

  constructor(root: JsonObject) {
    this.#root = withDefs(root)
  }

  root(): JsonObject {
    const node = this.#node({ ...this.plain(this.#root), type: 'object' }, [])
    if (!isObject(node.$defs)) return node
    // References to names with a slash are expanded.
    const named = Object.entries(node.$defs).filter(([name]) => !name.includes('/'))
    const definitions = named.flatMap(([name, value]) =>
      isObject(value) ? [[name, this.#node(withoutDefs(value), [`#/$defs/${name}`])] as const] : [],
    )
    return withMember(node, '$defs', Object.fromEntries(definitions) as JsonObject)
  }

  plain(schema: JsonObject): JsonObject {
    return withoutMembers(this.#object(schema, []), NOT_AT_THE_ROOT)
  }

  /** Returns the schema of an object as one without a reference or a choice. */
  #object(given: JsonObject, open: readonly string[], depth = 0): JsonObject {
    const { $ref, anyOf, oneOf, ...node } = given
    if (depth > DEPTH_MAX) return node
    if (typeof $ref === 'string') {
      const others = withoutMembers(given, ['$ref'])
      const target = this.#target($ref)
      if (target === null || open.includes($ref) || !this.#mayAdd(target)) return this.#object(others, open, depth + 1)
      return this.#object(joined([target, others]), [...open, $ref], depth + 1)
    }
    if (given.allOf !== undefined) return this.#object(withoutConjunction(given), open, depth + 1)
    const branches = arrayOrEmpty(anyOf ?? oneOf).filter(isObject)
    if (branches.length === 0) return node
    return withBranches(
      node,
      branches.map(branch => this.#object(branch, open, depth + 1)),
    )
  }

  /** `open`: the references that are being expanded around this node. */
  #node(given: JsonObject, open: readonly string[], depth = 0): JsonObject {
    if (depth > DEPTH_MAX) return given
    if (typeof given.$ref === 'string') return this.#reference(given, given.$ref, open, depth)
    const next = (child: JsonObject) => this.#node(withoutDefs(child), open, depth + 1)
    if (given.allOf !== undefined) return next(withoutConjunction(given))
    const node = withType(withTypeOfEnum(withAnyOf(withValidMembers(given))))
    return Array.isArray(node.anyOf) ? this.#choice(node, node.anyOf, next) : withChildren(withRequired(node), next)
  }

  #reference(node: JsonObject, reference: string, open: readonly string[], depth: number): JsonObject {
    const siblings = withoutMembers(node, ['$ref'])
    const target = this.#target(reference)
    const isPlain = target !== null && (reference === '#' || /^#\/\$defs\/[^/~%]+$/.test(inDefs(reference)))
    if (isPlain && Object.keys(siblings).every(key => NOTES.has(key))) return { ...node, $ref: inDefs(reference) }
    if (target !== null && !open.includes(reference) && this.#mayAdd(target)) {
      return this.#node(joined([withoutDefs(target), siblings]), [...open, reference], depth + 1)
    }
    if (isPlain) return { $ref: inDefs(reference) }
    // Only the type is left of a schema that contains itself.
    const type = target?.type !== undefined ? { type: target.type } : {}
    return this.#node({ ...type, ...siblings }, open, depth + 1)
  }

  #target(reference: string): JsonObject | null {
    return reference.startsWith('#') ? objectOrNull(atPointer(this.#root, decoded(inDefs(reference).slice(1)))) : null
  }

  /** Whether a part of the schema may be copied so often. */
  #mayAdd(part: JsonObject, times = 1): boolean {
    this.#left ??= growthMax(JSON.stringify(this.#root).length)
    if (this.#left >= 0) this.#left -= times * JSON.stringify(part).length
    return this.#left >= 0
  }

  /** Moves what stands beside `anyOf` into its branches. */
  #choice(node: JsonObject, given: readonly JsonValue[], next: (child: JsonObject) => JsonObject): JsonObject {
    const branches = given.map(branch => (branch === true ? {} : branch)).filter(isObject)
    if (branches.length === 0) return next(withoutMembers(node, ['anyOf']))
    const own = Object.entries(node).filter(([key]) => NOTES.has(key))
    const beside = withoutMembers(node, ['anyOf', ...NOTES])
    const isAlone = Object.keys(beside).length === 0
    const shared = isAlone || this.#mayAdd(beside, branches.length) ? beside : typeAlone(beside)
    const complete = (branch: JsonObject) =>
      isAlone || !isOfType(branch, shared.type) ? branch : joined([shared, branch])
    return { ...Object.fromEntries(own), anyOf: branches.map(branch => next(complete(branch))) }
  }
}

function typeAlone({ type }: JsonObject): JsonObject {
  return type === undefined ? {} : { type }
}

/** Moves the older `definitions` to `$defs`. */
function withDefs({ definitions, ...root }: JsonObject): JsonObject {
  return isObject(definitions) ? { ...root, $defs: { ...definitions, ...objectOrNull(root.$defs) } } : root
}

/** Definitions below the root are expanded where they are used. */
function withoutDefs(schema: JsonObject): JsonObject {
  return withoutMembers(schema, ['$defs'])
}

function inDefs(reference: string): string {
  return reference.replace(/^#\/definitions\//, '#/$defs/')
}

/** References are URLs, so names in them may be percent-encoded. */
function decoded(pointer: string): string {
  try {
    return decodeURIComponent(pointer)
  } catch {
    return pointer
  }
}

/** Adds what all parts of `allOf` say, except for their conditions, which the upstream mixes up. */
function withoutConjunction({ allOf, ...node }: JsonObject): JsonObject {
  const parts = arrayOrEmpty(allOf).filter(isObject)
  return joined([node, ...parts.map(part => withoutMembers(part, ['if', 'then', 'else', 'not']))])
}

/** Adds the properties of all branches; those that all branches require are required. */
function withBranches(node: JsonObject, branches: readonly JsonObject[]): JsonObject {
  const own = objectOrNull(node.properties) ?? {}
  const others = new Map<string, Map<string, JsonValue>>()
  for (const [name, schema] of branches.flatMap(branch => Object.entries(objectOrNull(branch.properties) ?? {}))) {
    if (schema === undefined || Object.hasOwn(own, name)) continue
    if (!others.has(name)) others.set(name, new Map())
    others.get(name)!.set(JSON.stringify(schema), schema)
  }
  const added = [...others].map(([name, distinct]) => {
    const schemas = [...distinct.values()]
    return [name, schemas.length > 1 ? { anyOf: schemas } : schemas[0]!] as const
  })
  const [first, ...rest] = branches.map(branch => new Set(arrayOrEmpty(branch.required)))
  const always = [...first!].filter(name => rest.every(names => names.has(name)))
  return {
    ...node,
    properties: { ...own, ...Object.fromEntries(added) },
    required: [...new Set([...arrayOrEmpty(node.required), ...always])],
  }
}

/** `oneOf` becomes `anyOf`, which the upstream knows. */
function withAnyOf({ oneOf, ...node }: JsonObject): JsonObject {
  return Array.isArray(oneOf) && oneOf.length > 0 && node.anyOf === undefined ? { ...node, anyOf: oneOf } : node
}

/** Whether a branch may have this type, so that what belongs to the type applies to the branch. */
function isOfType({ type }: JsonObject, shared: JsonValue | undefined): boolean {
  return type === undefined || shared === undefined || listOf(type).some(each => listOf(shared).includes(each))
}

/** Combines schemas that hold together. Members of later ones take precedence. */
function joined(schemas: readonly JsonObject[]): JsonObject {
  const all = combined(schemas)
  if (isObject(all.properties)) all.properties = combined(schemas.map(({ properties }) => properties).filter(isObject))
  if (Array.isArray(all.required))
    all.required = [...new Set(schemas.flatMap(({ required }) => arrayOrEmpty(required)))]
  return all
}

/** Removes members of a wrong type, which mean nothing. */
function withValidMembers(node: JsonObject): JsonObject {
  const wrong: string[] = []
  const check = (key: string, isRight: (value: JsonValue) => boolean) => {
    const value = node[key]
    if (value !== undefined && !isRight(value)) wrong.push(key)
  }
  check('description', value => typeof value === 'string')
  check('type', value => isType(listOf(value)))
  check('enum', value => Array.isArray(value) && value.length > 0)
  check('anyOf', value => Array.isArray(value) && value.length > 0)
  check('required', Array.isArray)
  check('properties', isObject)
  check('additionalProperties', value => isObject(value) || typeof value === 'boolean')
  check('items', value => Array.isArray(value) || (isObject(value) && Object.keys(value).length > 0))
  return withoutMembers(node, wrong)
}

function isType(types: readonly JsonValue[]): boolean {
  return types.length > 0 && types.length <= TYPES.length && types.every(each => TYPES.some(type => type === each))
}

/** Gives a list of values the types that it lacks; several of them become a choice. */
function withTypeOfEnum(node: JsonObject): JsonObject {
  if (!Array.isArray(node.enum) || node.anyOf !== undefined) return node
  const declared = typeof node.type === 'string' ? [node.type] : []
  if (node.enum.every(value => typesOf(value).some(type => declared.includes(type)))) return node
  const values = node.enum
  const types = [...new Set(values.map(value => typesOf(value)[0]!))]
  const rest = withoutMembers(node, ['type', 'enum'])
  if (types.includes('object') || types.includes('array')) return rest
  const branches = types.map(type => ({ type, enum: values.filter(value => typesOf(value)[0] === type) }))
  const [only, ...others] = branches
  if (only !== undefined && others.length === 0) return { ...rest, ...only }
  return { ...rest, anyOf: branches.map(branch => (branch.type === 'null' ? { type: 'null' } : branch)) }
}

/** The types that a value has, the narrowest first. */
function typesOf(value: JsonValue): string[] {
  if (value === null) return ['null']
  if (Array.isArray(value)) return ['array']
  if (isObject(value)) return ['object']
  if (typeof value === 'number') return Number.isInteger(value) ? ['integer', 'number'] : ['number']
  // A number with more digits than a double has is an object of its own.
  return typeof value === 'object' ? ['number'] : [typeof value]
}

/** Declares the type of a schema without one: by its keywords, else any type. */
function withType(node: JsonObject): JsonObject {
  if (node.type !== undefined || node.anyOf !== undefined) return node
  if (node.const !== undefined) return { ...node, type: typesOf(node.const)[0]! }
  const types = new Set(Object.keys(node).flatMap(key => TYPE_OF.get(key) ?? []))
  const [only, ...others] = types
  if (only !== undefined && others.length === 0) return { ...node, type: only }
  return { ...node, anyOf: TYPES.filter(type => type !== 'integer').map(type => ({ type })) }
}

/** Declares properties that are only required. */
function withRequired(node: JsonObject): JsonObject {
  if (!Array.isArray(node.required)) return node
  const names = node.required.filter(name => textOrNull(name) !== null) as string[]
  const known = isObject(node.properties) ? node.properties : {}
  const unknown = names.filter(name => !Object.hasOwn(known, name) || known[name] === false)
  const required = names.length === node.required.length ? node : withMember(node, 'required', names)
  if (unknown.length === 0) return required
  return withMember(required, 'properties', { ...known, ...Object.fromEntries(unknown.map(name => [name, {}])) })
}

/** Keywords whose value is one schema. */
const SINGLE = ['additionalProperties', 'items', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'] as const

function withChildren(given: JsonObject, next: (child: JsonObject) => JsonObject): JsonObject {
  let node = withOneSchemaOfItems(given)
  const map = (key: string, change: (child: JsonObject) => JsonObject) => {
    const child = node[key]
    if (isObject(child) && Object.keys(child).length > 0) node = withMember(node, key, change(child))
  }
  for (const key of SINGLE) map(key, next)
  for (const key of ['properties', 'patternProperties']) map(key, schemas => eachMember(schemas, next))
  const places = node.prefixItems
  return Array.isArray(places) ? withMember(node, 'prefixItems', places.filter(isObject).map(next)) : node
}

function eachMember(schemas: JsonObject, next: (child: JsonObject) => JsonObject): JsonObject {
  const changed = Object.entries(schemas).flatMap(([name, child]) => {
    if (isObject(child)) return [[name, next(child)] as const]
    return child === true ? [[name, next({})] as const] : []
  })
  return Object.fromEntries(changed)
}

/** Schemas for each place of an array become a choice for all places. */
function withOneSchemaOfItems(node: JsonObject): JsonObject {
  if (!Array.isArray(node.items)) return node
  const [only, ...others] = node.items.filter(isObject)
  if (only === undefined || Object.keys(only).length === 0) return withoutMembers(node, ['items'])
  return withMember(node, 'items', others.length === 0 ? only : { anyOf: [only, ...others] })
}

function listOf(value: JsonValue): readonly JsonValue[] {
  return Array.isArray(value) ? value : [value]
}
