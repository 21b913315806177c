/**
 * Checks reasoning facts where all layers meet, at the targets. What a family and a model state is checked with the model; here
 * it is about what an entry, an upstream or a target adds.
 */

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

interface Layer extends Place {
  readonly value: Readonly<Record<string, unknown>>
}

interface Stated {
  readonly layer: Layer
  readonly value: unknown
}

/** Layers before this one are the family and the model. */
const FIRST_BELOW_MODEL = 2

export function checkReasoning(view: CatalogueView, report: Report): void {
  const reported = new Set<string>()
  for (const entry of view.entries) {
    for (const target of entry.targets) {
      const finding = judge(view, entry, target)
      if (finding === null) continue
      const { layer, word, message, fix } = finding
      const key = JSON.stringify([layer.file.path, layer.path, word])
      if (reported.has(key)) continue
      reported.add(key)
      report(layer, ['dialect', 'reasoning', word], 'capability-fact', message, fix)
    }
  }
}

interface Judgement {
  readonly layer: Layer
  readonly word: 'parameter' | 'levels'
  readonly message: string
  readonly fix: string
}

function judge(view: CatalogueView, entry: EntryView, target: TargetView): Judgement | null {
  const host = view.hosts.get(target.via)
  const { family } = entry.model
  const layers: Layer[] = [family, entry.model, entry, ...(host === undefined ? [] : [host]), target]
  const stated = (word: 'parameter' | 'levels'): Stated | undefined => {
    const found = layers.findLast(({ value }) => reasoningOf(value)[word] !== undefined)
    return found && { layer: found, value: reasoningOf(found.value)[word] }
  }
  const [parameter, levels] = [stated('parameter'), stated('levels')]
  const isAdded = (facts: Stated | undefined): facts is Stated =>
    facts !== undefined && layers.indexOf(facts.layer) >= FIRST_BELOW_MODEL
  const name = asText(parameter?.value)
  if (isAdded(parameter) && name !== '' && !asList(entry.model.value.capabilities).includes('reasoning')) {
    const message = `the dialect asks for reasoning by "${name}", but the model of "${entry.id}" has no capability "reasoning"`
    return { layer: parameter.layer, word: 'parameter', message, fix: 'leave it out, or add the capability' }
  }
  const hasLevels = asList(levels?.value).length > 0
  const needsLevels = name === 'reasoning_effort' || name === 'adaptive'
  if (needsLevels && !hasLevels && (isAdded(parameter) || isAdded(levels))) {
    const layer = isAdded(levels) ? levels.layer : (parameter as Stated).layer
    const message = `reasoning by "${name}" needs levels`
    const fix = 'write `levels: [low, medium, high]` beside the parameter'
    return { layer, word: isAdded(levels) ? 'levels' : 'parameter', message, fix }
  }
  const isChat = (asText(target.value.standard) || entry.standard) === 'chat_completions'
  const hasWires = [family, entry.model, entry, target].some(({ value }) => value.wires !== undefined)
  if (levels === undefined || !hasLevels || name !== '' || !isChat || hasWires) return null
  // Where the parameter was taken away below the levels, the levels are missing their `null` there.
  const isTaken = parameter !== undefined && layers.indexOf(parameter.layer) > layers.indexOf(levels.layer)
  return {
    layer: isTaken ? parameter.layer : levels.layer,
    word: isTaken ? 'parameter' : 'levels',
    message: `"${entry.id}" has levels of effort, but no parameter that sends them`,
    fix: 'write `levels: null`, or the `parameter`',
  }
}

function reasoningOf(value: Layer['value']): Readonly<Record<string, unknown>> {
  return asRecord(asRecord(value.dialect).reasoning)
}
