/**
 * Writes the source of one family: constants with what the family and its models state, then the entries, which spread these
 * constants.
 */

import type { Rule, UpstreamTarget, Wire } from '../src/generated/types.ts'
import { canonicalJson, isSameData } from './canonical.ts'
import { compareText } from './findings.ts'
import type { Layer, LayerNode } from './layers.ts'
import { Code, importOf, literal, Members } from './literal.ts'
import { camelName, constantName, modelName, pascalName, UniqueNames } from './names.ts'
import type { EntryFactsStated, EntryOutline, FamilyOutline, ModelOutline, Outline } from './outline.ts'
import { hostName, saidMembers } from './render-upstreams.ts'

const OPEN = { isOpen: true }

export function familyContext(outline: Outline, family: FamilyOutline) {
  const source = new FamilySource(outline, family)
  const entries = family.models.flatMap(model => source.addModel(model))
  const types = source.imported('types')
  const imports = [
    importOf(source.imported('defaults'), '../defaults.ts'),
    importOf(['TableEntry', 'TableTarget'], '../ids.ts', 'type'),
    ...(types.length === 0 ? [] : [importOf(types, '../types.ts', 'type')]),
    importOf(source.imported('upstreams'), '../upstreams.ts'),
  ]
  return {
    imports: imports.join('\n'),
    constants: source.constants.join('\n'),
    name: constantName(family.name),
    entries: literal(entries),
  }
}

type ImportedFile = 'defaults' | 'types' | 'upstreams'

class FamilySource {
  readonly constants: string[] = []
  readonly #outline: Outline
  readonly #family: FamilyOutline
  readonly #names = new UniqueNames()
  /** The prefix for the names of all constants of a layer. */
  readonly #bases = new Map<Layer, string>()
  /** For each value written so far, the name of its constant, or of the constant's member. */
  readonly #known = new Map<object, string>()
  readonly #limits = new Map<string, string>()
  readonly #imports = new Map<string, Set<string>>()
  /** For each upstream, the facts that its targets in this family share, and the name of the constant with these facts. */
  readonly #shared = new Map<string, { readonly name: string; readonly target: UpstreamTarget }>()

  constructor(outline: Outline, family: FamilyOutline) {
    this.#outline = outline
    this.#family = family
    const base = this.#baseOf(family.layer, camelName(family.name))
    this.#addFacts(base, this.#use('defaults', 'ENTRY'), family.stated)
    this.#source(outline.dialects.resolve([family.layer]))
    for (const target of family.shared) {
      const name = this.#names.take(`${base}On${pascalName(target.via)}`)
      const own = Object.entries(target).filter(([key]) => key !== 'model' && key !== 'dialect')
      const code = new Members(
        [],
        own.map(([key, value]) => [key, this.#source(value)]),
        OPEN,
      )
      this.#add(name, code, { after: ' as const satisfies Partial<TableTarget>' })
      this.#known.set(target.extras, `${name}.extras`)
      if (target.rules.length > 0) this.#known.set(target.rules, `${name}.rules`)
      this.#shared.set(target.via, { name, target })
    }
  }

  /** Adds the model's constants and returns its entries. */
  addModel(model: ModelOutline): Members[] {
    const family = this.#bases.get(this.#family.layer) as string
    const base = this.#baseOf(model.layer, modelName(this.#family.name, model.name))
    const facts = this.#addFacts(base, `${family}Facts`, model.stated)
    this.#source(this.#outline.dialects.resolve([this.#family.layer, model.layer]))
    for (const [key, value] of Object.entries(model.shared)) {
      const name = this.#names.take(base + pascalName(key))
      this.#known.set(value, this.#add(name, value, { type: `: TableTarget['${key}']` }))
    }
    const targets = new Map<string, string>()
    return model.entries.map(entry => this.#entry(entry, facts, targets))
  }

  /** Names that the source imports from a generated file, sorted. */
  imported(file: ImportedFile): readonly string[] {
    return [...(this.#imports.get(file) ?? [])].toSorted(compareText)
  }

  #entry({ stated }: EntryOutline, facts: string, targets: Map<string, string>): Members {
    const own = Object.entries(stated).map(([key, value]): [string, unknown] =>
      key === 'upstreams' ? [key, stated.upstreams.map(target => this.#target(target, targets))] : [key, value],
    )
    return new Members([facts], own, OPEN)
  }

  /**
   * Writes a target: it spreads a constant and adds its own model name and weight. Targets of an upstream that differ only in
   * these two share the constant.
   */
  #target(target: UpstreamTarget, known: Map<string, string>): Members {
    const shared = this.#shared.get(target.via) as { name: string; target: UpstreamTarget }
    const base: Readonly<Record<string, unknown>> = { ...shared.target }
    const differs = ([key, value]: [string, unknown]) =>
      key !== 'model' && key !== 'weight' && (key === 'dialect' || !isSameData(value, base[key]))
    const own = Object.entries(target)
      .filter(differs)
      .map(([key, value]): [string, unknown] => [
        key,
        key === 'wires' ? this.#wires(target.wires ?? []) : this.#source(value),
      ])
    const key = own.map(([word, value]) => `${word} ${value instanceof Code ? value.text : literal(value)}`).join()
    let name = known.get(`${target.via} ${key}`)
    if (name === undefined) {
      name = this.#names.take(this.#pathName(this.#outline.dialects.nodeOf(target.dialect)))
      const after = target.wires === undefined ? '' : ' as const satisfies Partial<TableTarget>'
      known.set(`${target.via} ${key}`, this.#add(name, new Members([shared.name], own), { after }))
    }
    const weight: [string, unknown][] = target.weight === 0 ? [] : [['weight', target.weight]]
    return new Members([name], [['model', target.model], ...weight])
  }

  /** Replaces values built from layers by the names of their constants, at any depth. */
  #source(value: unknown): unknown {
    if (value === null || typeof value !== 'object') return value
    const { dialects, extras, rules } = this.#outline
    const dialect = dialects.nodeOf(value)
    if (dialect !== undefined) return new Code(this.#dialect(dialect))
    const extra = extras.nodeOf(value)
    if (extra !== undefined) return new Code(this.#extras(extra))
    const known = this.#known.get(value)
    if (known !== undefined) return new Code(known)
    const rule = rules.nodeOf(value)
    if (rule !== undefined) return this.#rules(rule)
    if (Array.isArray(value)) return value.map(item => this.#source(item))
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, this.#source(member)]))
  }

  #dialect({ value, on }: LayerNode<object>): string {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    if (on === null) return this.#use('defaults', 'DIALECT')
    const { layer, parent } = on
    const base = this.#dialect(parent)
    if (layer.kind === 'upstream') return `${this.#use('upstreams', hostName(layer.name))}.dialect(${base})`
    if (layer.kind === 'wire') return `${this.#wire(layer)}(${base})`
    if (layer === this.#outline.perCall) return `${this.#use('defaults', 'perCall')}(${base})`
    const path = this.#pathName({ value, on })
    if (layer.dialect.size === 0) return this.#addKnown(value, `${path}Dialect`, new Code(base), '')
    const name = /^\w+$/.test(base)
      ? base
      : this.#addKnown(parent.value, `${this.#pathName(parent)}Dialect`, new Code(base), '')
    return this.#addKnown(
      value,
      `${path}Dialect`,
      saidMembers(layer.dialect, name),
      `: ${this.#use('types', 'Dialect')}`,
    )
  }

  /** Returns the name of the function that applies a wire's differences to a dialect. */
  #wire(layer: Layer): string {
    const known = this.#known.get(layer)
    if (known !== undefined) return known
    this.#use('types', 'Dialect')
    const own = saidMembers(layer.dialect, 'dialect', '(dialect: Dialect): Dialect')
    return this.#addKnown(layer, modelName(this.#family.name, layer.name), own, '')
  }

  /** Writes wires. A list of what a wire cannot carry is written only once, even if several models have the same one. */
  #wires(wires: NonNullable<UpstreamTarget['wires']>): Members[] {
    return wires.map(({ wire, cannot, dialect }) => {
      const key = canonicalJson(cannot)
      const name = cannot.length === 0 ? undefined : (this.#limits.get(key) ?? this.#addLimits(wire, cannot))
      return new Members(
        [],
        [
          ['wire', wire],
          ['cannot', name === undefined ? [] : new Code(name)],
          ['dialect', this.#source(dialect)],
        ],
      )
    })
  }

  #addLimits(wire: string, cannot: Wire['cannot']): string {
    const family = this.#bases.get(this.#family.layer) as string
    const name = this.#names.take(`${family}Limits${pascalName(wire)}`)
    this.#add(name, cannot, { type: `: readonly ${this.#use('types', 'WireLimit')}[]` })
    this.#limits.set(canonicalJson(cannot), name)
    return name
  }

  #extras({ value, on }: LayerNode<object>): string {
    const known = this.#known.get(value)
    if (known !== undefined) return known
    if (on === null) return this.#use('defaults', 'EXTRAS')
    const { layer, parent } = on
    if (layer.kind === 'upstream') return `${this.#use('upstreams', hostName(layer.name))}.extras`
    const own = saidMembers(layer.extras, this.#extras(parent))
    return this.#addKnown(value, `${this.#pathName({ value, on })}Extras`, own, `: ${this.#use('types', 'Extras')}`)
  }

  /** Returns the rules as a list, or the name of their constant. */
  #rules({ value, on }: LayerNode<readonly Rule[]>): unknown {
    const known = this.#known.get(value)
    if (known !== undefined) return new Code(known)
    if (on === null) return []
    const { layer, parent } = on
    const base = this.#rules(parent)
    const before = base instanceof Code ? [new Code(`...${base.text}`)] : (base as readonly unknown[])
    if (layer.kind === 'upstream') {
      const own = `${this.#use('upstreams', hostName(layer.name))}.rules`
      return before.length === 0 ? new Code(own) : [...before, new Code(`...${own}`)]
    }
    const path = this.#pathName({ value, on })
    return new Code(
      this.#addKnown(value, `${path}Rules`, [...before, ...layer.rules], `: readonly ${this.#use('types', 'Rule')}[]`),
    )
  }

  /** Names a constant after the last layer that states something. Appends the upstream, and `PerCall`, if they add facts too. */
  #pathName(node: LayerNode<object> | undefined): string {
    let base = ''
    let host = ''
    let call = ''
    for (let on = node?.on; on != null; on = on.parent.on) {
      const { layer } = on
      if (layer.kind === 'upstream') host = `On${pascalName(layer.name)}`
      else if (layer.kind === 'call') call = 'PerCall'
      else if (base === '') base = this.#baseOf(layer, modelName(this.#family.name, layer.name))
    }
    return base + host + call
  }

  #baseOf(layer: Layer, wanted: string): string {
    const base = this.#bases.get(layer) ?? this.#names.take(wanted)
    this.#bases.set(layer, base)
    return base
  }

  #addFacts(base: string, parent: string, stated: EntryFactsStated): string {
    const name = this.#names.take(`${base}Facts`)
    const own = Object.entries(stated)
    return this.#add(name, new Members([parent], own, OPEN), {
      after: ' as const satisfies Partial<TableEntry>',
      isApart: true,
    })
  }

  #addKnown(value: object, wanted: string, code: unknown, type: string): string {
    const name = this.#add(this.#names.take(wanted), code, { type })
    this.#known.set(value, name)
    return name
  }

  /** Adds a constant, after a blank line if it `isApart`, and returns its name. */
  #add(name: string, code: unknown, { type = '', after = '', isApart = false }): string {
    const head = `const ${name}${type} = `
    const text = literal(code, { indent: '', before: head.length, after: after.length })
    this.constants.push(`${isApart ? '\n' : ''}${head}${text}${after}`)
    return name
  }

  #use(file: ImportedFile, name: string): string {
    const names = this.#imports.get(file) ?? new Set()
    this.#imports.set(file, names.add(name))
    return name
  }
}
