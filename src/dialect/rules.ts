/** Applies the catalogue's rules, which edit the request body sent upstream. Every key is treated as data, even `__proto__`. */

import type { Endpoint, Rule, When } from '../generated/types.ts'
import { copyJson } from '../lib/exact-json.ts'
import { isObject, type JsonObject, type JsonValue, setMember } from '../lib/json.ts'

type Container = JsonObject | JsonValue[]

/** A place for a value in an object or list; it may be empty. */
interface Slot {
  /** Where the object or list is; null for the slot of the body itself. */
  readonly parent: Slot | null
  readonly key: string | number
  /** The key or index that each `*` of the pointer matched, in order. */
  readonly stars: readonly (string | number)[]
}

const BODY: Slot = { parent: null, key: '', stars: [] }

/** A body under change. Copies an object or list before its first change, so that the given body stays as it is. */
class Draft {
  body: JsonObject
  readonly #copies = new Set<Container>()

  constructor(body: JsonObject) {
    this.body = body
  }

  read({ parent, key }: Slot): JsonValue | undefined {
    if (parent === null) return this.body
    const container = this.read(parent) as Container
    if (Array.isArray(container)) return container[Number(key)]
    return Object.hasOwn(container, key) ? container[key] : undefined
  }

  write({ parent, key }: Slot, value: JsonValue): void {
    if (parent === null) return
    const container = this.#changeable(parent)
    if (Array.isArray(container)) container[Number(key)] = value
    else setMember(container, String(key), value)
  }

  remove({ parent, key }: Slot): void {
    if (parent === null) return
    const container = this.#changeable(parent)
    if (Array.isArray(container)) container.splice(Number(key), 1)
    else delete container[key]
  }

  /** The object or list in a slot, copied unless it is a copy already. */
  #changeable(slot: Slot): Container {
    const container = this.read(slot) as Container
    if (this.#copies.has(container)) return container
    const copy = Array.isArray(container) ? [...container] : { ...container }
    this.#copies.add(copy)
    if (slot.parent === null) this.body = copy as JsonObject
    else this.write(slot, copy)
    return copy
  }
}

interface CompiledRule {
  readonly rule: Rule
  readonly steps: readonly string[]
  /** Steps of a move's `to` pointer; empty for other operations. */
  readonly goal: readonly string[]
  readonly whenSteps: readonly string[]
}

/** Caches compiled rules. The lists of rules are constants in the generated tables, so each is compiled once. */
const compiled = new WeakMap<readonly Rule[], readonly CompiledRule[]>()

/**
 * Applies the rules to the body in order. Returns a body that shares with the given one whatever no rule changes; the given one
 * stays as it is. A rule with `endpoints` only applies to these endpoints of the upstream. Rules ignore missing paths and values
 * of the wrong type; no body makes this throw. The work is bounded by the size of the body times the number of rules.
 */
export function applyRules(body: JsonObject, rules: readonly Rule[], endpoint: Endpoint): JsonObject {
  const draft = new Draft(body)
  for (const each of compiledRules(rules)) {
    const { endpoints, when } = each.rule
    if (endpoints !== undefined && !endpoints.includes(endpoint)) continue
    if (when !== undefined && !holds(draft, when, each.whenSteps)) continue
    applyRule(draft, each)
  }
  return draft.body
}

/**
 * Whether the rules can change a body, judging only by which top-level members it has. Most rules change or remove a member, so
 * a body without this member need not be parsed.
 */
export function mayChange(rules: readonly Rule[], endpoint: Endpoint, has: (member: string) => boolean): boolean {
  return compiledRules(rules).some(({ rule, steps: [first = ''] }) => {
    if (rule.endpoints !== undefined && !rule.endpoints.includes(endpoint)) return false
    return rule.op === 'set' || rule.op === 'default' || first === '*' || has(first)
  })
}

function compiledRules(rules: readonly Rule[]): readonly CompiledRule[] {
  let list = compiled.get(rules)
  if (list === undefined) {
    list = rules.map(compileRule)
    compiled.set(rules, list)
  }
  return list
}

function compileRule(rule: Rule): CompiledRule {
  return {
    rule,
    steps: parsePointer(rule.op === 'move' ? rule.from : rule.path),
    goal: rule.op === 'move' ? parsePointer(rule.to) : [],
    whenSteps: rule.when === undefined ? [] : parsePointer(rule.when.path),
  }
}

/** Splits an RFC 6901 pointer into its steps. */
function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

function applyRule(draft: Draft, { rule, steps, goal }: CompiledRule): void {
  switch (rule.op) {
    case 'set':
      for (const slot of findSlots(draft, steps, true)) draft.write(slot, copy(rule.value))
      return
    case 'default':
      for (const slot of findSlots(draft, steps, true))
        if (draft.read(slot) === undefined) draft.write(slot, copy(rule.value))
      return
    case 'drop':
      for (const slot of findSlots(draft, steps, false).toReversed()) draft.remove(slot)
      return
    case 'move':
      move(draft, steps, goal)
      return
    case 'clamp':
      for (const slot of findSlots(draft, steps, false)) {
        const value = draft.read(slot)
        if (typeof value === 'number') draft.write(slot, clamp(value, rule.min, rule.max))
      }
      return
    case 'map':
      for (const slot of findSlots(draft, steps, false)) {
        const value = draft.read(slot)
        if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') continue
        if (Object.hasOwn(rule.values, String(value))) draft.write(slot, copy(rule.values[String(value)]))
      }
  }
}

function clamp(value: number, min: number | undefined, max: number | undefined): number {
  if (min !== undefined && value < min) return min
  return max !== undefined && value > max ? max : value
}

/**
 * Moves values. All are removed before any is written, so that sources and targets may overlap. If several values move to the
 * same target, the last one wins.
 */
function move(draft: Draft, steps: readonly string[], goal: readonly string[]): void {
  const slots = findSlots(draft, steps, false)
  const taken = slots.map(slot => ({ value: draft.read(slot), stars: slot.stars }))
  for (const slot of slots.toReversed()) draft.remove(slot)
  for (const { value, stars } of taken) {
    if (value === undefined) continue
    let used = 0
    const bound = goal.map(step => (step === '*' ? String(stars[used++] ?? '*') : step))
    for (const slot of findSlots(draft, bound, true)) draft.write(slot, value)
  }
}

function holds(draft: Draft, when: When, steps: readonly string[]): boolean {
  const values = findSlots(draft, steps, false).map(slot => draft.read(slot))
  if (when.exists !== undefined) return values.length > 0 === when.exists
  if (when.one_of !== undefined) return values.some(value => when.one_of?.some(wanted => wanted === value))
  return values.some(value => value === when.equals)
}

/**
 * Finds the members that a pointer names. With `make`, the last member need not exist, and missing parents are created as
 * objects. `*` only matches existing members, so no parent before the last `*` is created.
 */
function findSlots(draft: Draft, steps: readonly string[], make: boolean): Slot[] {
  let found: Slot[] = [BODY]
  const lastStar = steps.lastIndexOf('*')
  for (const [index, step] of steps.entries()) {
    const next: Slot[] = []
    for (const slot of found) {
      const value = make && index > lastStar ? readOrMake(draft, slot) : draft.read(slot)
      if (!Array.isArray(value) && !isObject(value)) continue
      if (step === '*') {
        const keys = Array.isArray(value) ? value.keys() : Object.keys(value)
        for (const key of keys) next.push({ parent: slot, key, stars: [...slot.stars, key] })
      } else {
        const key = keyOf(value, step)
        if (key !== undefined) next.push({ parent: slot, key, stars: slot.stars })
      }
    }
    found = next
  }
  return make ? found : found.filter(slot => draft.read(slot) !== undefined)
}

/** Returns the key in an object, or the index in a list (`-` is its end); undefined if the step cannot match. */
function keyOf(container: Container, step: string): string | number | undefined {
  if (!Array.isArray(container)) return step
  if (step === '-') return container.length
  if (!/^(0|[1-9][0-9]{0,8})$/.test(step)) return undefined
  return Number(step) < container.length ? Number(step) : undefined
}

function readOrMake(draft: Draft, slot: Slot): JsonValue | undefined {
  const value = draft.read(slot)
  if (value !== undefined) return value
  const made: JsonObject = {}
  draft.write(slot, made)
  return made
}

/** Copies a value of the generated tables, so that later changes to the body do not alter the tables. */
function copy(value: unknown): JsonValue {
  return copyJson(value as JsonValue)
}
