/**
 * Checks extras: request fields and provider-run tools, such as web search, that cost more than their tokens. catalogue.yaml
 * must say how to recognise each extra. For a tool that is sold per use, it must also say where replies count the uses, and
 * the price must not be below the minimum (`floors`).
 */

import { asList, asNumber, asRecord, asText, type CatalogueView, type Loose, type Place, type Report } from '../view.ts'
import { OUTLIER_RATIO } from './prices.ts'

/** A part of the catalogue that can configure extras: an upstream, family, model, entry or target. */
interface Layer extends Place {
  readonly value: Loose
  /** Capabilities of the model that the layer applies to; undefined if it applies to several models. */
  readonly capabilities?: readonly unknown[]
}

export function checkExtras(view: CatalogueView, report: Report): void {
  const vocabulary = asRecord(view.settings.extras)
  for (const layer of layersOf(view)) {
    const extras = asRecord(layer.value.extras)
    for (const kind of ['fields', 'tools'] as const) {
      const words = asRecord(vocabulary[kind])
      for (const [word, treatment] of Object.entries(asRecord(extras[kind]))) {
        const at = ['extras', kind, word]
        if (words[word] === undefined) {
          const message = `catalogue.yaml does not say how "${word}" is recognised`
          report(layer, at, 'extra-unknown', message, `write \`${word}: …\` under \`extras: ${kind}:\` there`, 'key')
        } else if (kind === 'tools')
          checkTool(view, { layer, at, word, treatment, fact: asRecord(words[word]) }, report)
      }
    }
  }
  checkVocabulary(view, report)
  checkAcknowledgedUses(view, report)
}

/** Reports acknowledged prices per use at which no tool of that name is sold. */
function checkAcknowledgedUses(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const layers = layersOf(view)
  for (const [index, item] of asList(view.settings.acknowledged).entries()) {
    const { name, price } = asRecord(item)
    const { vnd, per } = asRecord(price)
    if (typeof name !== 'string' || per !== 'use') continue
    const prices = layers.map(({ value }) => asNumber(asRecord(asRecord(toolsOf(value)[name]).price).vnd))
    if (prices.includes(asNumber(vnd))) continue
    const sold = [...new Set(prices.filter(each => each !== undefined))].toSorted((a, b) => a - b)
    const fact = sold.length === 0 ? 'is sold nowhere' : `costs ${sold.join(', ')} per use`
    report(
      { file: view.main, path: ['acknowledged', index] },
      ['price'],
      'acknowledgement-stale',
      `acknowledges ${String(vnd)} per use, but "${name}" ${fact}`,
      'correct the price, or remove the acknowledgement',
    )
  }
}

function toolsOf(value: Loose): Loose {
  return asRecord(asRecord(value.extras).tools)
}

interface ToolView {
  readonly layer: Layer
  readonly at: readonly string[]
  readonly word: string
  readonly treatment: unknown
  readonly fact: Loose
}

function checkTool(view: CatalogueView, { layer, at, word, treatment, fact }: ToolView, report: Report): void {
  const price = asRecord(asRecord(treatment).price)
  const vnd = asNumber(price.vnd)
  const isOpen = treatment === 'allow' || vnd !== undefined
  if (isOpen && layer.capabilities !== undefined && !layer.capabilities.includes('tools')) {
    const message = `"${word}" is allowed for a model without the capability "tools"`
    report(layer, at, 'capability-fact', message, 'leave it out, or add the capability')
  }
  if (vnd === undefined || vnd <= 0) return
  if (asList(fact.uses).length === 0) {
    const message = `"${word}" is sold per use, but catalogue.yaml does not say where a reply counts its uses`
    report(layer, at, 'extra-uncounted', message, `write \`uses: […]\` under \`extras: tools: ${word}:\` there`)
  }
  const floor = asNumber(asRecord(view.settings.floors).use)
  if (floor === undefined) return
  const where = [...at, 'price', 'vnd']
  if (vnd >= floor * OUTLIER_RATIO) {
    const message = `${vnd} VND per use is far from the floor of ${floor}`
    report(layer, where, 'price-outlier', message, 'check for a missing or extra digit')
  }
  if (vnd >= floor) return
  report(
    layer,
    where,
    'price-floor',
    `${vnd} VND per use is below the floor of ${floor}`,
    `write at least ${floor}, or lower \`floors\` in catalogue.yaml`,
  )
}

/** Checks that every matcher has both a JSON pointer (`at`) and the `values` to compare with what it finds, or neither. */
function checkVocabulary(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const main: Place = { file: view.main, path: [] }
  for (const [word, tool] of Object.entries(asRecord(asRecord(view.settings.extras).tools))) {
    const matches = asList(asRecord(tool).matches).map((match, index) => [['matches', index], match] as const)
    const items = asList(asRecord(tool).uses).map(
      (use, index) => [['uses', index, 'item'], asRecord(use).item] as const,
    )
    for (const [path, match] of [...matches, ...items]) {
      const { at, values } = asRecord(match)
      if ((asText(at) === '') === (values === undefined)) continue
      const message = '"at" and "values" go together'
      report(main, ['extras', 'tools', word, ...path], 'missing-key', message, 'write both, or neither')
    }
  }
}

function layersOf(view: CatalogueView): Layer[] {
  const ofFamilies = view.families.flatMap(family =>
    family.models.flatMap(model => {
      const capabilities = asList(model.value.capabilities)
      const below = model.entries.flatMap(entry => [entry, ...entry.targets])
      return [model, ...below].map(({ file, path, value }) => ({ file, path, value, capabilities }))
    }),
  )
  return [...view.hosts.values(), ...view.families, ...ofFamilies]
}
