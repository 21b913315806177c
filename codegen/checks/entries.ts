/** Checks entries against their models, each other and the expected counts. */

import { oldWordAt } from '../old-words.ts'
import { nearestWord } from '../spelling.ts'
import { isStandard, KINDS, PER_CALL_PREFIX, prefixOf } from '../standards.ts'
import {
  asList,
  asNumber,
  asRecord,
  asText,
  type CatalogueView,
  type EntryView,
  type FamilyView,
  type ModelView,
  type Report,
} from '../view.ts'

export function checkFamilies(view: CatalogueView, report: Report): void {
  const rightfulOf = rightfulFamilies(view)
  for (const family of view.families) {
    if (family.name === '') continue
    const expected = `${family.name}.yaml`
    const actual = baseName(family)
    const rightful = rightfulOf.get(family.name)
    if (rightful !== family) {
      const message = `family "${family.name}" is also in ${rightful?.file.path}`
      report(family, ['family'], 'duplicate-family', message, 'delete one of the two, or move the models into one file')
    } else if (actual !== expected) {
      const message = `family "${family.name}" is in ${actual}`
      report(family, ['family'], 'family-file', message, `rename the file to ${expected}`)
    }
  }
}

function baseName({ file }: FamilyView): string {
  return file.path.slice(file.path.lastIndexOf('/') + 1)
}

/**
 * Maps each family name to the family that is kept. If several files define it, that is the one in the file named after it, or
 * else the first.
 */
function rightfulFamilies(view: CatalogueView): ReadonlyMap<string, FamilyView> {
  const rightful = new Map<string, FamilyView>()
  for (const family of view.families) {
    if (!rightful.has(family.name) || baseName(family) === `${family.name}.yaml`) rightful.set(family.name, family)
  }
  return rightful
}

/** Whether the entries come from two files that define the same family, a mistake that is reported once, for the family. */
export function isFromDuplicateFamilyFile(entry: EntryView, first: EntryView): boolean {
  const [family, other] = [entry.model.family, first.model.family]
  return family !== other && family.name === other.name
}

export function checkEntries(view: CatalogueView, report: Report): void {
  for (const family of view.families) {
    checkModelNames(family, report)
    for (const model of family.models) {
      checkModel(model, report)
      checkKind(model, report)
    }
  }
  for (const entry of view.entries) {
    if (entry.id === '') continue
    const first = view.byId.get(entry.id)
    if (first !== undefined && first !== entry && !isFromDuplicateFamilyFile(entry, first)) {
      const place = first.file.locate([...first.path, 'id'])
      report(
        entry,
        ['id'],
        'duplicate-id',
        `"${entry.id}" is also in ${place.file}:${place.line}`,
        'give each entry its own id',
      )
    }
    checkPrefix(view, entry, report)
    checkModelOf(view, entry, report)
    checkLimits(entry, report)
  }
}

/** Rejects two models with one name: the pages would show them as one. */
function checkModelNames({ models }: FamilyView, report: Report): void {
  const seen = new Map<string, ModelView>()
  for (const model of models) {
    const name = asText(model.value.name).toLowerCase()
    const first = seen.get(name)
    if (first === undefined) seen.set(name, model)
    else if (name !== '') {
      const { file, line } = first.file.locate([...first.path, 'name'])
      const message = `"${asText(model.value.name)}" is also the model at ${file}:${line}`
      report(
        model,
        ['name'],
        'duplicate-model',
        message,
        'give each model its own name, or move the entries to one model',
      )
    }
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
      if (model.value[key] !== undefined || Object.keys(model.value).some(other => nearestWord(other, [key]))) continue
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
  // Skip old spellings of "none" such as `''`, which another check reports.
  const isOld = oldWordAt(['dialect', 'reasoning', 'parameter'], reasoning.parameter) !== null
  const parameter = isOld ? null : (reasoning.parameter ?? null)
  const reasons = capabilities.includes('reasoning')
  if (!reasons && parameter !== null && isFamilyWithoutReasoning(model)) {
    // Report the family's mistake only once, at its first model.
    if (model.family.models[0] === model) {
      const message = `the dialect asks for reasoning by "${String(parameter)}", but no model here has the capability "reasoning"`
      const at = ['dialect', 'reasoning', 'parameter']
      report(model.family, at, 'capability-fact', message, 'leave it out, or add the capability')
    }
  } else if (!reasons && parameter !== null) {
    const own = asRecord(asRecord(model.value.dialect).reasoning).parameter !== undefined
    const message = `the dialect asks for reasoning by "${String(parameter)}", but the model has no capability "reasoning"`
    const fix = 'write `dialect: { reasoning: { parameter: null } }` in the model, or add the capability'
    report(model, own ? ['dialect', 'reasoning', 'parameter'] : ['capabilities'], 'capability-fact', message, fix)
  }
  if (
    reasons &&
    (parameter === 'reasoning_effort' || parameter === 'adaptive') &&
    (reasoning.levels ?? null) === null
  ) {
    const message = `reasoning by "${parameter}" needs levels`
    report(
      model,
      ['capabilities'],
      'capability-fact',
      message,
      'write `levels: [low, medium, high]` beside the parameter',
    )
  }
}

/**
 * Whether no model of the family has the `reasoning` capability or sets its own reasoning parameter. Then the mistake is in the
 * facts of the family.
 */
function isFamilyWithoutReasoning({ family }: ModelView): boolean {
  return family.models.every(
    ({ value }) =>
      !asList(value.capabilities).includes('reasoning') &&
      asRecord(asRecord(value.dialect).reasoning).parameter === undefined,
  )
}

/** Characters allowed in ids. Another check reports ids with other characters. */
const ID_CHARACTERS = /^[a-z0-9._/-]+$/

/**
 * Checks that an entry with a prefix, such as `req/x`, is listed under the same model as `x`. If not, its line was probably
 * copied or moved to the wrong model.
 */
function checkModelOf(view: CatalogueView, entry: EntryView, report: Report): void {
  if (prefixOf(entry.id) === '') return
  const plain = view.byId.get(entry.id.slice(entry.id.indexOf('/') + 1))
  if (plain === undefined || plain.model === entry.model || isFromDuplicateFamilyFile(entry, plain)) return
  const [own, other] = [entry, plain].map(({ model }) => asText(model.value.name))
  const message = `"${plain.id}" is an entry of ${other}, but this is ${own}`
  report(entry, ['id'], 'other-model', message, `move the line to ${other}, or correct the id`)
}

/** Rejects facts that have no effect on this kind of model, because they would mislead readers. */
function checkKind(model: ModelView, report: Report): void {
  if (!isStandard(model.family.standard)) return
  const kind = KINDS[model.family.standard]
  for (const [key, kinds, of] of [
    ['images_max', 'image', 'image models'],
    ['references_max', 'image', 'image models'],
    ['hold_output_tokens', 'chat', 'chat models'],
  ] as const) {
    if (kind === kinds) continue
    for (const place of [model, ...model.entries]) {
      if (place.value[key] === undefined) continue
      report(place, [key], 'capability-fact', `"${key}" is only for ${of}`, 'leave it out', 'key')
    }
  }
}

function checkPrefix(view: CatalogueView, entry: EntryView, report: Report): void {
  if (!ID_CHARACTERS.test(entry.id)) return
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
  // Skip files with other findings: a number there may not be what it looks like, such as `50.000`, which YAML reads as 50.
  if (entry.file.findings.length > 0) return
  for (const key of ['context_tokens', 'output_tokens_max', 'images_max', 'references_max']) {
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
  if (context !== undefined && context > 0 && output !== undefined && output > context) {
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

/** Checks that the smallest cap on the output fits into the largest: shorter caps are raised to it, and the client pays. */
export function checkCaps(view: CatalogueView, report: Report): void {
  const reported = new Set<unknown>()
  for (const entry of view.entries) {
    const limit = asNumber(entry.value.output_tokens_max) ?? asNumber(entry.model.value.output_tokens_max)
    for (const target of entry.targets) {
      const host = view.hosts.get(target.via)
      const layers = [entry.model.family, entry.model, entry, ...(host === undefined ? [] : [host]), target]
      const capMin = (value: unknown) => asRecord(asRecord(asRecord(value).dialect).output).cap_min
      const layer = layers.findLast(({ value }) => capMin(value) !== undefined)
      const least = asNumber(capMin(layer?.value))
      if (layer === undefined || least === undefined || limit === undefined || least <= limit) continue
      if (reported.has(layer.value)) continue
      reported.add(layer.value)
      const message = `cap_min is ${least}, above the ${limit} output tokens of "${entry.id}"`
      report(layer, ['dialect', 'output', 'cap_min'], 'limit-wider', message, 'write the smallest cap that is accepted')
    }
  }
}

export function checkCounts(view: CatalogueView, report: Report): void {
  const isComplete = view.families.every(family => family.models.length > 0)
  if (view.main === undefined || !isComplete) return
  const counts = asRecord(view.settings.counts)
  const actual: Readonly<Record<string, number>> = {
    entries: view.entries.length,
    ...(view.service !== '' && { aws: view.entries.filter(entry => prefixOf(entry.id) === view.service).length }),
    per_call: view.entries.filter(entry => prefixOf(entry.id) === PER_CALL_PREFIX).length,
  }
  const wrong = Object.entries(actual).filter(([key, found]) => (asNumber(counts[key]) ?? found) !== found)
  const [first] = wrong
  if (first === undefined) return
  const found = wrong.map(([key, count]) => `${key} ${count}`).join(' and ')
  const expected = wrong.map(([key]) => String(counts[key])).join(' and ')
  const corrected = wrong.map(([key, count]) => `${key}: ${count}`).join(', ')
  const isLess = wrong.some(([key, count]) => count < Number(counts[key]))
  const fix = `${isLess ? 'restore the missing entries' : 'remove the extra ones'}, or write \`${corrected}\``
  const place = { file: view.main, path: ['counts'] }
  report(place, [first[0]], 'count', `found ${found}, expected ${expected}`, fix)
}
