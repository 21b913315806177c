/**
 * Checks `wires` lists: the wire formats that a model's upstream accepts. Each must be listed once, have a path at the
 * upstream, and set only dialect words that have a meaning in its format. The model's `standard` format must be listed.
 */

import type { WireName } from '../../src/generated/types.ts'
import type { Path } from '../source.ts'
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

/** A family, model, entry or target: each can have a `dialect` and a `wires` list, and the most specific list applies. */
interface Level extends Place {
  readonly value: Readonly<Record<string, unknown>>
  readonly entries: readonly EntryView[]
  /** The targets that the level is about; if left out, all targets of the entries. */
  readonly targets?: EntryView['targets']
}

export function checkWires(view: CatalogueView, report: Report): void {
  for (const level of levelsOf(view)) {
    checkWords(level, ['dialect'], asRecord(level.value.dialect), undefined, report)
    if (level.value.wires !== undefined) checkList(view, level, report)
  }
  for (const host of view.hosts.values()) checkWords(host, ['dialect'], asRecord(host.value.dialect), undefined, report)
}

function levelsOf(view: CatalogueView): Level[] {
  return view.families.flatMap(family => {
    const ofModels = family.models.flatMap(model => {
      const ofEntries = model.entries.flatMap((entry): Level[] => [
        { ...entry, entries: [entry] },
        ...entry.targets.map((target): Level => ({ ...target, entries: [entry], targets: [target] })),
      ])
      return [{ file: model.file, path: model.path, value: model.value, entries: model.entries }, ...ofEntries]
    })
    const entries = family.models.flatMap(model => model.entries)
    return [{ file: family.file, path: family.path, value: family.value, entries }, ...ofModels]
  })
}

function checkList(view: CatalogueView, level: Level, report: Report): void {
  const seen = new Set<string>()
  const targets = level.targets ?? level.entries.flatMap(entry => entry.targets)
  const hosts = targets.map(target => view.hosts.get(target.via)).filter(host => host !== undefined)
  const wires = asList(level.value.wires).map(asRecord)
  for (const [index, { wire, dialect }] of wires.entries()) {
    const name = asText(wire)
    const at = ['wires', index]
    if (seen.has(name)) {
      report(level, [...at, 'wire'], 'wire-repeated', `"${name}" is already in the list`, 'keep one of the two')
    }
    seen.add(name)
    if (hosts.length > 0 && name !== '' && !hosts.some(host => Object.hasOwn(asRecord(host.value.paths), name))) {
      const ids = [...new Set(hosts.map(host => `"${host.id}"`))].join(', ')
      const message = `no upstream here (${ids}) has a path for ${name}`
      report(level, [...at, 'wire'], 'wire-path', message, 'remove the wire, or add its path in upstreams.yaml')
    }
    checkWords(level, [...at, 'dialect'], asRecord(dialect), name as WireName, report)
  }
  const standards = new Set(
    level.entries.flatMap(entry => {
      const affected = (level.targets ?? entry.targets).filter(target => isInEffect(level, entry, target))
      return affected.map(target => asText(target.value.standard) || entry.standard)
    }),
  )
  for (const standard of standards) {
    if (standard === '' || seen.has(standard)) continue
    const message = `${standard}, which the gateway uses, is not among the wires`
    report(level, ['wires'], 'wire-standard', message, `add \`- wire: ${standard}\` at its place in the order`)
  }
}

/** Whether the level's list applies to the target: no more specific level has a list of its own. */
function isInEffect(level: Level, entry: EntryView, target: TargetView): boolean {
  const values = [entry.model.family.value, entry.model.value, entry.value, target.value]
  return values.findLast(value => value.wires !== undefined) === level.value
}

/**
 * Checks the words of a dialect. `wire` names the item of a `wires` list that contains the dialect; undefined outside such
 * lists. There, a dialect applies to the `standard` format, which is never Responses, so words only for Responses are errors.
 */
function checkWords(
  place: Place,
  at: readonly (string | number)[],
  dialect: Readonly<Record<string, unknown>>,
  wire: WireName | undefined,
  report: Report,
): void {
  checkUsage(place, [...at, 'usage'], asRecord(dialect.usage), report)
  for (const [group, words] of Object.entries(dialect)) {
    for (const [word, value] of Object.entries(asRecord(words))) {
      const wires = wiresOfWord(`${group}.${word}`, value)
      if (wires === undefined || wires.includes(wire as WireName)) continue
      const isElsewhere = wire === undefined && wires.some(each => each !== 'responses')
      if (isElsewhere) continue
      const quoted = typeof value === 'string' ? `\`${word}: ${value}\`` : `"${word}"`
      const message = `${quoted} only has a meaning in ${wires.join(' and ')}`
      const fix =
        wire === undefined ? `write it in the dialect of \`- wire: ${wires[0]}\` under \`wires\`` : 'leave it out'
      report(place, [...at, group, word], 'wire-word', message, fix, 'key')
    }
  }
}

/** Names of counts that are certainly not the one that they are given for. */
const OTHER_COUNTS: Readonly<Record<string, RegExp>> = {
  input: /^(total|output|completion)_tokens$/,
  output: /^(total|input|prompt)_tokens$/,
}

/** Checks that each token count is read from a place of its own: customers would pay for the same tokens twice. */
function checkUsage(place: Place, at: Path, usage: Readonly<Record<string, unknown>>, report: Report): void {
  const seen = new Map<unknown, string>()
  for (const count of ['input', 'output', 'cached', 'reasoning']) {
    for (const [index, pointer] of asList(usage[count]).entries()) {
      const other = seen.get(pointer)
      seen.set(pointer, count)
      const name = asText(pointer).slice(asText(pointer).lastIndexOf('/') + 1)
      const isOther = OTHER_COUNTS[count]?.test(name) === true
      if (!isOther && (other === undefined || other === count)) continue
      const message = isOther ? `"${name}" is not the number of ${count} tokens` : `"${other}" is read from there, too`
      report(place, [...at, count, index], 'usage-shared', message, `write where replies report \`${count}\` alone`)
    }
  }
}
