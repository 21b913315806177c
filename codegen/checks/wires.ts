/**
 * Checks lists of wires. Each wire must be listed once, have a path and use only dialect words that have a meaning in its format.
 * The list must include the wire that the gateway uses.
 */

import type { WireName } from '../../src/generated/types.ts'
import {
  asList,
  asRecord,
  asText,
  type CatalogueView,
  type EntryView,
  type Place,
  type Report,
  type TargetView,
} from '../view.ts'
import { wiresOfWord } from '../wire-words.ts'

interface Holder extends Place {
  readonly value: Readonly<Record<string, unknown>>
  readonly entries: readonly EntryView[]
  /** The targets to check; if left out, all targets of the entries. */
  readonly targets?: EntryView['targets']
}

export function checkWires(view: CatalogueView, report: Report): void {
  for (const holder of holdersOf(view)) {
    checkWords(holder, ['dialect'], asRecord(holder.value.dialect), undefined, report)
    if (holder.value.wires !== undefined) checkList(view, holder, report)
  }
  for (const host of view.hosts.values()) checkWords(host, ['dialect'], asRecord(host.value.dialect), undefined, report)
}

function holdersOf(view: CatalogueView): Holder[] {
  return view.families.flatMap(family => {
    const ofModels = family.models.flatMap(model => {
      const ofEntries = model.entries.flatMap((entry): Holder[] => [
        { ...entry, entries: [entry] },
        ...entry.targets.map((target): Holder => ({ ...target, entries: [entry], targets: [target] })),
      ])
      return [{ file: model.file, path: model.path, value: model.value, entries: model.entries }, ...ofEntries]
    })
    const entries = family.models.flatMap(model => model.entries)
    return [{ file: family.file, path: family.path, value: family.value, entries }, ...ofModels]
  })
}

function checkList(view: CatalogueView, holder: Holder, report: Report): void {
  const seen = new Set<string>()
  const targets = holder.targets ?? holder.entries.flatMap(entry => entry.targets)
  const hosts = targets.map(target => view.hosts.get(target.via)).filter(host => host !== undefined)
  const wires = asList(holder.value.wires).map(asRecord)
  for (const [index, { wire, dialect }] of wires.entries()) {
    const name = asText(wire)
    const at = ['wires', index]
    if (seen.has(name)) {
      report(holder, [...at, 'wire'], 'wire-repeated', `"${name}" is already in the list`, 'keep one of the two')
    }
    seen.add(name)
    if (hosts.length > 0 && name !== '' && !hosts.some(host => Object.hasOwn(asRecord(host.value.paths), name))) {
      const ids = [...new Set(hosts.map(host => `"${host.id}"`))].join(', ')
      const message = `no upstream here (${ids}) has a path for ${name}`
      report(holder, [...at, 'wire'], 'wire-path', message, 'remove the wire, or add its path in upstreams.yaml')
    }
    checkWords(holder, [...at, 'dialect'], asRecord(dialect), name as WireName, report)
  }
  const standards = new Set(
    holder.entries.flatMap(entry => {
      const reached = (holder.targets ?? entry.targets).filter(target => isReached(holder, entry, target))
      return reached.map(target => asText(target.value.standard) || entry.standard)
    }),
  )
  for (const standard of standards) {
    if (standard === '' || seen.has(standard)) continue
    const message = `${standard}, which the gateway uses, is not among the wires`
    report(holder, ['wires'], 'wire-standard', message, `add \`- wire: ${standard}\` at its place in the order`)
  }
}

/** Whether the holder's list applies to the target, because no more specific level has its own list. */
function isReached(holder: Holder, entry: EntryView, target: TargetView): boolean {
  const layers = [entry.model.family.value, entry.model.value, entry.value, target.value]
  return layers.findLast(value => value.wires !== undefined) === holder.value
}

/**
 * Checks the words of a dialect. `wire` is undefined for a dialect that does not belong to one wire in a `wires` list; such a
 * dialect applies to the format that the gateway uses, which is never Responses.
 */
function checkWords(
  place: Place,
  at: readonly (string | number)[],
  dialect: Readonly<Record<string, unknown>>,
  wire: WireName | undefined,
  report: Report,
): void {
  for (const [group, words] of Object.entries(dialect)) {
    for (const [word, value] of Object.entries(asRecord(words))) {
      const wires = wiresOfWord(`${group}.${word}`, value)
      if (wires === undefined || wires.includes(wire as WireName)) continue
      const isElsewhere = wire === undefined && wires.some(each => each !== 'responses')
      if (isElsewhere) continue
      const said = typeof value === 'string' ? `\`${word}: ${value}\`` : `"${word}"`
      const message = `${said} only has a meaning in ${wires.join(' and ')}`
      const fix =
        wire === undefined ? `write it in the dialect of \`- wire: ${wires[0]}\` under \`wires\`` : 'leave it out'
      report(place, [...at, group, word], 'wire-word', message, fix, 'key')
    }
  }
}
