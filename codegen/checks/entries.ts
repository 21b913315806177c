/** Checks of entries against their models, their neighbours and the expected numbers. */

import { isStandard, KINDS, PER_CALL_PREFIX, prefixOf } from '../standards.ts'
import { asList, asNumber, asRecord, type CatalogueView, type EntryView, type ModelView, type Report } from '../view.ts'

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

export function checkCounts(view: CatalogueView, report: Report): void {
  const isComplete = view.families.every(family => family.models.length > 0)
  if (view.main === undefined || !isComplete) return
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
