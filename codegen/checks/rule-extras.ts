/**
 * Checks that neither rules nor an upstream's `fields` switch on an extra: a request field or tool that the provider bills on top
 * of tokens. Both come after the extras that may not pass have been taken out of a request, so nobody would pay for them.
 */

import { fits } from '../../src/conversation/patterns.ts'
import type { Endpoint } from '../../src/generated/types.ts'
import { isStandard, reachedEndpoints } from '../standards.ts'
import {
  asList,
  asRecord,
  asText,
  type CatalogueView,
  type EntryView,
  type Loose,
  type Place,
  type Report,
  type TargetView,
} from '../view.ts'

interface Layer extends Place {
  readonly value: Loose
}

export function checkRuleExtras(view: CatalogueView, report: Report): void {
  const reported = new Set<string>()
  for (const entry of view.entries) {
    for (const target of entry.targets) {
      const extras = extrasAt(view, entry, target)
      for (const { file, path, value } of layersOf(view, entry, target)) {
        for (const [index, item] of asList(value.rules).entries()) {
          const rule = asRecord(item)
          const key = rule.op === 'move' ? 'to' : 'path'
          judge({ file, path: [...path, 'rules', index, key] }, asText(rule[key]), 'rule-billed', rule)
        }
        for (const [name, member] of Object.entries(asRecord(value.fields))) {
          const rule = { op: 'set', path: `/${name}`, value: member }
          judge({ file, path: [...path, 'fields', name] }, `"${name}"`, 'field-billed', rule)
        }
      }

      function judge(place: Place, what: string, code: 'rule-billed' | 'field-billed', rule: Loose): void {
        const key = JSON.stringify([place.file.path, place.path])
        const word = reported.has(key) ? undefined : switchedOn(rule, extras)
        if (word === undefined) return
        reported.add(key)
        const message = `${what} switches on "${word}", which the provider bills besides tokens`
        report(place, [], code, message, 'leave it out, or let the extra pass (`extras`)')
      }
    }
  }
}

function layersOf(view: CatalogueView, entry: EntryView, target: TargetView): readonly Layer[] {
  const host = view.hosts.get(target.via)
  return [entry.model.family, entry.model, entry, ...(host === undefined ? [] : [host]), target]
}

/** The extras as a target treats them. */
interface ExtrasAt {
  readonly vocabulary: Loose
  /** Bodies that go to the target. */
  readonly endpoints: readonly Endpoint[]
  treatmentOf(kind: 'fields' | 'tools', word: string): unknown
}

function extrasAt(view: CatalogueView, entry: EntryView, target: TargetView): ExtrasAt {
  const host = view.hosts.get(target.via)
  const standard = asText(target.value.standard) || entry.standard
  // In the order in which extras merge, which is not that of rules.
  const layers = [host, entry.model.family, entry.model, entry, target].map(layer => asRecord(layer?.value.extras))
  const vocabulary = asRecord(view.settings.extras)
  return {
    vocabulary,
    endpoints: isStandard(standard) && host !== undefined ? reachedEndpoints(standard, asRecord(host.value.paths)) : [],
    treatmentOf: (kind, word) =>
      layers.map(extras => asRecord(extras[kind])[word]).findLast(treatment => treatment !== undefined) ??
      asRecord(asRecord(vocabulary[kind])[word]).otherwise,
  }
}

/** The extra that a rule may put into a body although the target does not let it pass; undefined if there is none. */
function switchedOn(rule: Loose, { vocabulary, endpoints, treatmentOf }: ExtrasAt): string | undefined {
  const [, member = ''] = asText(rule.op === 'move' ? rule.to : rule.path).split('/')
  const written = valuesOf(rule)
  if (written === null) return undefined
  const bodies = endpoints.filter(endpoint => rule.endpoints === undefined || asList(rule.endpoints).includes(endpoint))
  const fields = asRecord(vocabulary.fields)
  const isField = asList(asRecord(fields[member]).endpoints).some(endpoint => bodies.includes(endpoint as Endpoint))
  if (isField) {
    const treatment = treatmentOf('fields', member)
    const free = [null, ...asList(asRecord(treatment).free)]
    return treatment === 'allow' || written.every(value => free.includes(value as string)) ? undefined : member
  }
  return Object.entries(asRecord(vocabulary.tools)).find(([word, tool]) => {
    const { fields: switches, matches } = asRecord(tool)
    const isOn = asList(switches).includes(member)
      ? !written.every(isOff)
      : member === 'tools' && written.flat().some(item => isTool(item, matches))
    return isOn && treatmentOf('tools', word) !== 'allow'
  })?.[0]
}

const ANYTHING = Symbol('anything')

/** Values that a rule may write at its place; null if it writes none. */
function valuesOf({ op, value, values }: Loose): readonly unknown[] | null {
  if (op === 'set' || op === 'default') return [value]
  if (op === 'map') return Object.values(asRecord(values))
  return op === 'move' ? [ANYTHING] : null
}

/** Whether a value of a field that switches a tool on leaves it off, as the gateway reads it (`fields` of a tool). */
function isOff(value: unknown): boolean {
  return value === null || value === false || (Array.isArray(value) && value.length === 0)
}

function isTool(item: unknown, matches: unknown): boolean {
  const { type } = asRecord(item)
  return typeof type === 'string' && asList(matches).some(match => fits(type, asText(asRecord(match).type)))
}
