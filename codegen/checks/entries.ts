/** Checks of entries against their models, their neighbours and the expected numbers. */

import { isStandard, KINDS, PER_CALL_PREFIX, prefixOf } from '../standards.ts'
import { asList, asNumber, asRecord, type CatalogueView, type EntryView, type ModelView, type Report } from '../view.ts'

const OUTLIER_RATIO = 10

export function checkFamilies(view: CatalogueView, report: Report): void {
  const seen = new Map<string, string>()
  for (const family of view.families) {
    if (family.name === '') continue
    const expected = `${family.name}.yaml`
    const actual = family.file.path.slice(family.file.path.lastIndexOf('/') + 1)
    if (actual !== expected) {
      report(
        family,
        ['family'],
        'family-file',
        `family "${family.name}" stands in ${actual}`,
        `rename the file to ${expected}`,
      )
    }
    const other = seen.get(family.name)
    if (other !== undefined) {
      report(
        family,
        ['family'],
        'duplicate-family',
        `family "${family.name}" stands in ${other} too`,
        'move the models into one file',
      )
    } else seen.set(family.name, family.file.path)
  }
}

export function checkEntries(view: CatalogueView, report: Report): void {
  for (const family of view.families) for (const model of family.models) checkModel(model, report)
  for (const entry of view.entries) {
    if (entry.id === '') continue
    const first = view.byId.get(entry.id)
    if (first !== undefined && first !== entry) {
      const place = first.file.locate([...first.path, 'id'])
      report(
        entry,
        ['id'],
        'duplicate-id',
        `"${entry.id}" stands in ${place.file}:${place.line} too`,
        'give each entry its own id',
      )
    }
    checkPrefix(view, entry, report)
    checkLimits(entry, report)
  }
}

function checkModel(model: ModelView, report: Report): void {
  if (!isStandard(model.family.standard)) return
  const isChat = KINDS[model.family.standard] === 'chat'
  const capabilities = asList(model.value.capabilities)
  if (isChat) {
    for (const [key, example] of [
      ['context_tokens', 1_000_000],
      ['output_tokens_max', 128_000],
    ] as const) {
      if (model.value[key] !== undefined) continue
      report(
        model,
        ['name'],
        'limits-missing',
        `a chat model without \`${key}\``,
        `write the vendor's limit, e.g. \`${key}: ${example}\``,
      )
    }
  } else {
    const chatty = capabilities.findIndex(capability => capability !== 'streaming')
    if (chatty >= 0) {
      const message = `"${String(capabilities[chatty])}" is a capability of chat models`
      report(model, ['capabilities', chatty], 'capability-fact', message, 'leave it out')
    }
  }
  const reasoning = {
    ...asRecord(asRecord(model.family.value.dialect).reasoning),
    ...asRecord(asRecord(model.value.dialect).reasoning),
  }
  const parameter = reasoning.parameter ?? 'none'
  const reasons = capabilities.includes('reasoning')
  if (!reasons && parameter !== 'none') {
    const own = asRecord(asRecord(model.value.dialect).reasoning).parameter !== undefined
    const message = `the dialect asks for reasoning by "${String(parameter)}", but the model has no capability "reasoning"`
    const fix = 'write `dialect: { reasoning: { parameter: none } }` in the model, or add the capability'
    report(model, own ? ['dialect', 'reasoning', 'parameter'] : ['capabilities'], 'capability-fact', message, fix)
  }
  if (
    reasons &&
    (parameter === 'reasoning_effort' || parameter === 'adaptive') &&
    asList(reasoning.levels).length === 0
  ) {
    const message = `reasoning by "${parameter}" needs its levels`
    report(
      model,
      ['capabilities'],
      'capability-fact',
      message,
      'write `levels: [low, medium, high]` beside the parameter',
    )
  }
}

function checkPrefix(view: CatalogueView, entry: EntryView, report: Report): void {
  const prefix = prefixOf(entry.id)
  const known = [PER_CALL_PREFIX, view.service]
  if (prefix !== '' && view.service !== '' && !known.includes(prefix)) {
    const message = `"${entry.id}" has the prefix "${prefix}/"`
    report(entry, ['id'], 'unknown-prefix', message, `write ${known.map(word => `"${word}/"`).join(', ')} or none`)
    return
  }
  const per = entry.price?.per
  if (per === undefined || !isStandard(entry.standard)) return
  const perCall = prefix === PER_CALL_PREFIX
  const allowed = !perCall ? 'mtok' : KINDS[entry.standard] === 'image' ? 'image' : 'request'
  if (per !== allowed) {
    const kind = perCall
      ? `${KINDS[entry.standard]} entries under ${PER_CALL_PREFIX}/ are`
      : `"${entry.id}" has no ${PER_CALL_PREFIX}/ and is`
    report(
      entry,
      ['price', 'per'],
      'price-unit',
      `priced per ${per}, but ${kind} priced per ${allowed}`,
      `write \`per: ${allowed}\` with a price to match, or change the prefix`,
    )
  }
}

function checkLimits(entry: EntryView, report: Report): void {
  for (const key of ['context_tokens', 'output_tokens_max']) {
    const own = asNumber(entry.value[key])
    const limit = asNumber(entry.model.value[key])
    if (own !== undefined && limit !== undefined && own > limit) {
      report(
        entry,
        [key],
        'limit-wider',
        `"${entry.id}" allows ${own}, but its model allows ${limit}`,
        `write at most ${limit}, or widen the model and narrow its other entries`,
      )
    }
  }
  const context = asNumber(entry.value.context_tokens) ?? asNumber(entry.model.value.context_tokens)
  const output = asNumber(entry.value.output_tokens_max) ?? asNumber(entry.model.value.output_tokens_max)
  if (context !== undefined && output !== undefined && output > context) {
    const place = entry.value.output_tokens_max === undefined ? entry.model : entry
    report(
      place,
      ['output_tokens_max'],
      'limit-wider',
      `${output} output tokens do not fit into a context of ${context}`,
      `write at most ${context}`,
    )
  }
}

export function checkPrices(view: CatalogueView, report: Report): void {
  const floors = asRecord(view.settings.floors)
  const neighbours = new Map<string, number[]>()
  for (const entry of view.entries) {
    if (entry.price === undefined) continue
    for (const key of [entry.price.per, `${entry.price.per} ${entry.model.family.name}`]) {
      const list = neighbours.get(key)
      if (list === undefined) neighbours.set(key, [entry.price.vnd])
      else list.push(entry.price.vnd)
    }
  }
  const medians = new Map(
    [...neighbours].map(([key, prices]) => [key, { count: prices.length, median: medianOf(prices) }]),
  )
  for (const entry of view.entries) {
    if (entry.price === undefined || entry.price.vnd <= 0) continue
    const { vnd, per } = entry.price
    const floor = asNumber(floors[per])
    if (floor !== undefined && vnd < floor) {
      report(
        entry,
        ['price', 'vnd'],
        'price-floor',
        `${vnd} VND per ${per} is below the floor of ${floor}`,
        `write at least ${floor}, or lower \`floors\` in catalogue.yaml`,
      )
      continue
    }
    const family = medians.get(`${per} ${entry.model.family.name}`)
    const group = family !== undefined && family.count >= 3 ? family : medians.get(per)
    if (group === undefined || group.count < 3) continue
    const ratio = vnd / group.median
    if (ratio >= OUTLIER_RATIO || ratio <= 1 / OUTLIER_RATIO) {
      report(
        entry,
        ['price', 'vnd'],
        'price-outlier',
        `${vnd} VND per ${per} is far from its neighbours at about ${group.median}`,
        'make sure that no digit is missing or too many',
      )
    }
  }
}

function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor((values.length - 1) / 2)] ?? 0
}

export function checkCounts(view: CatalogueView, report: Report): void {
  if (view.main === undefined) return
  const counts = asRecord(view.settings.counts)
  const actual = {
    entries: view.entries.length,
    aws: view.entries.filter(entry => view.service !== '' && prefixOf(entry.id) === view.service).length,
    per_call: view.entries.filter(entry => prefixOf(entry.id) === PER_CALL_PREFIX).length,
  }
  for (const [key, found] of Object.entries(actual)) {
    const expected = asNumber(counts[key])
    if (expected === undefined || expected === found) continue
    const place = { file: view.main, path: [] }
    report(
      place,
      ['counts', key],
      'count',
      `${found} entries, expected ${expected}`,
      `bring the lost entry back, or write \`${key}: ${found}\``,
    )
  }
}
