/**
 * Writes the TypeScript source of one model family: constants for the facts that the catalogue gives for the family and for
 * each model, then the entries, which spread these constants. A layer is a place in the catalogue that gives facts, such as a
 * model.
 */

import type { Rule, UpstreamTarget, Wire } from '../src/generated/types.ts'
import { canonicalJson, isSameData } from './canonical.ts'
import { compareText } from './findings.ts'
import type { Layer, LayerNode } from './layers.ts'
import { Code, importOf, literal, Members } from './literal.ts'
import { camelName, constantName, modelName, pascalName, UniqueNames } from './names.ts'
import type { EntryFactsStated, EntryOutline, FamilyOutline, ModelOutline, Outline } from './outline.ts'
import { hostName, statedMembers } from './render-upstreams.ts'

const MULTILINE = { isMultiline: true }

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
  /** For each layer, the prefix of its constants' names. */
  readonly #bases = new Map<Layer, string>()
  /** For each value written so far, the constant, or member of a constant, that holds it. */
  readonly #known = new Map<object, string>()
  readonly #limits = new Map<string, string>()
  readonly #imports = new Map<string, Set<string>>()
  /** For each upstream, the facts that its targets in this family share, and the name of the constant that holds them. */
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
        MULTILINE,
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
    return new Members([facts], own, MULTILINE)
  }

  /**
   * Writes a target, which spreads a constant and adds its own model name and weight. Targets of one upstream that differ only
   * in model name and weight share the constant.
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

  /** Replaces dialects, extras, rules and other values that have constants with code that refers to them, at any depth. */
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
      statedMembers(layer.dialect, name),
      `: ${this.#use('types', 'Dialect')}`,
    )
  }

  /** Returns the name of the function that adapts a model's dialect to one of the formats (wires) that the model speaks. */
  #wire(layer: Layer): string {
    const known = this.#known.get(layer)
    if (known !== undefined) return known
    this.#use('types', 'Dialect')
    const own = statedMembers(layer.dialect, 'dialect', '(dialect: Dialect): Dialect')
    return this.#addKnown(layer, modelName(this.#family.name, layer.name), own, '')
  }

  /** Writes the formats (wires) of a target. Wires with the same limits (`cannot`) share a constant, even across models. */
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
    const own = statedMembers(layer.extras, this.#extras(parent))
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

  /**
   * Returns a constant's name: the prefix of the last layer that belongs to neither an upstream nor the pricing, then `On…` if
   * an upstream added facts, and `PerCall` if facts for entries priced per call were added.
   */
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
    return this.#add(name, new Members([parent], own, MULTILINE), {
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
