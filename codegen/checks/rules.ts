/**
 * Checks the catalogue's rules, which change request bodies before they go upstream. No rule may change billed or metered
 * fields or remove fields that every call needs, and each rule must have an effect.
 */

import { ENDPOINT_FACTS } from '../../src/catalogue/endpoints.ts'
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

/** Fields that billing and metering depend on. */
export const BILLED = ['/model', '/stream', '/stream_options']
/** Field for the number of choices or images. Rules may only remove or lower it. */
export const CHOICES = '/n'
/** Fields that limit the output. Rules may only lower them. */
export const OUTPUT_CAPS = ['/max_tokens', '/max_completion_tokens', '/max_output_tokens']

interface RuleView extends Place {
  readonly value: Loose
}

/**
 * How a rule is used: how many chains (one per target) contain it, which endpoints' bodies it sees, and which rules undo it or take
 * away what it works on.
 */
interface Use {
  chains: number
  readonly endpoints: Set<Endpoint>
  readonly shadows: RuleView[]
  /** Per chain in which there is one: an earlier rule that takes away what this rule works on. */
  readonly takers: RuleView[]
}

export function checkRules(view: CatalogueView, report: Report): void {
  const hostRules = new Map([...view.hosts.values()].map(host => [host.id, rulesOf(host, host.value)]))
  const uses = new Map<RuleView, Use>()
  const note = (rules: readonly RuleView[]) => {
    for (const rule of rules) uses.set(rule, { chains: 0, endpoints: new Set(), shadows: [], takers: [] })
    return rules
  }
  for (const rules of hostRules.values()) note(rules)
  for (const family of view.families) {
    const familyRules = note(rulesOf(family, family.value))
    for (const model of family.models) {
      const modelRules = note(rulesOf(model, model.value))
      for (const entry of model.entries) {
        const entryRules = note(rulesOf(entry, entry.value))
        for (const target of entry.targets) {
          const targetRules = note(rulesOf(target, target.value))
          const chain = [
            ...familyRules,
            ...modelRules,
            ...entryRules,
            ...(hostRules.get(target.via) ?? []),
            ...targetRules,
          ]
          noteShadows(chain, uses)
          noteEndpoints(chain, uses, endpointsOf(view, entry, target))
        }
      }
    }
  }
  const faulty = new Set<RuleView>()
  for (const [rule, use] of uses) {
    const reportFault: Report = (...finding) => {
      faulty.add(rule)
      report(...finding)
    }
    checkBilled(rule, reportFault)
    checkNeeded(rule, use, reportFault)
    checkEndpoints(rule, use, report)
    checkStars(rule, report)
    checkBounds(rule, report)
    checkVain(rule, report)
  }
  for (const [rule, use] of uses) checkShadows(rule, use, faulty, report)
}

/** Reports a rule that another one makes useless wherever it applies, unless the other one must go anyway. */
function checkShadows(rule: RuleView, { chains, shadows, takers }: Use, faulty: ReadonlySet<RuleView>, report: Report) {
  const [shadow, taker] = [shadows[0], takers[0]]
  if (shadow !== undefined && shadows.length === chains && !faulty.has(shadow)) {
    report(rule, [], 'rule-shadowed', `${show(shadow)} undoes this rule`, 'remove one of the two')
  } else if (taker !== undefined && takers.length === chains && !faulty.has(taker)) {
    const message = `${show(taker)} leaves nothing for this rule to do`
    report(rule, [], 'rule-shadowed', message, 'change their order, or remove one of the two')
  }
}

function rulesOf(place: Place, value: Loose): RuleView[] {
  return asList(value.rules).map((rule, index) => ({
    file: place.file,
    path: [...place.path, 'rules', index],
    value: asRecord(rule),
  }))
}

function checkBilled(rule: RuleView, report: Report): void {
  for (const key of ['path', 'from', 'to']) {
    const pointer = asText(rule.value[key])
    if (pointer === '') continue
    const billed = BILLED.find(field => touches(pointer, field))
    if (billed !== undefined) {
      report(
        rule,
        [key],
        'rule-billed',
        `${pointer} touches ${billed}, which is billed or metered`,
        'leave the rule out',
      )
      continue
    }
    const lowers = rule.value.op === 'clamp' && rule.value.min === undefined
    if (touches(pointer, CHOICES) && rule.value.op !== 'drop' && !lowers) {
      report(
        rule,
        [key],
        'rule-billed',
        `${pointer} could raise ${CHOICES}, and every choice or image is billed`,
        'use `op: drop`, `op: clamp` with `max` only, or the word `output.choices_max`',
      )
      continue
    }
    const cap = OUTPUT_CAPS.find(field => touches(pointer, field))
    if (cap !== undefined && !lowers) {
      report(
        rule,
        [key],
        'rule-billed',
        `${pointer} could raise ${cap}, which the client pays for`,
        'use `op: clamp` with `max` only, or `output_tokens_max`',
      )
    }
  }
}

function endpointsOf(view: CatalogueView, entry: EntryView, target: TargetView): Endpoint[] {
  const standard = asText(target.value.standard) || entry.standard
  const host = view.hosts.get(target.via)
  return isStandard(standard) && host !== undefined ? reachedEndpoints(standard, asRecord(host.value.paths)) : []
}

function noteEndpoints(chain: readonly RuleView[], uses: ReadonlyMap<RuleView, Use>, endpoints: readonly Endpoint[]) {
  for (const rule of chain) for (const endpoint of endpoints) uses.get(rule)?.endpoints.add(endpoint)
}

/**
 * Checks that no rule removes a whole field that every call needs, such as the conversation or the voice, or sets such a field,
 * except the voice, to a constant. Rules may change parts of a conversation.
 */
function checkNeeded(rule: RuleView, { endpoints }: Use, report: Report): void {
  const { op, endpoints: own } = rule.value
  const key = op === 'move' ? 'from' : 'path'
  const pointer = asText(rule.value[key])
  if (pointer === '' || (op !== 'drop' && op !== 'move' && op !== 'set')) return
  if (BILLED.some(field => touches(pointer, field))) return
  const bodies = [...endpoints].filter(endpoint => own === undefined || asList(own).includes(endpoint))
  const needed = bodies
    .flatMap((endpoint): readonly string[] => ENDPOINT_FACTS[endpoint].needs)
    .find(field => (op === 'set' ? isSame(pointer, field) && field !== '/voice' : takesAll(pointer, field)))
  if (needed === undefined) return
  const message = op === 'set' ? `${needed} would be the same in every call` : `every call needs ${needed}`
  report(rule, [key], 'rule-needed', message, 'remove the rule, or name a path below it')
}

/**
 * Whether removing what the pointer names would remove the whole field, because the pointer names the field, one of its
 * parents, or all of its members.
 */
function takesAll(pointer: string, field: string): boolean {
  const isWithin = pointer.split('/').length <= field.split('/').length && touches(pointer, field)
  return isWithin || isSame(pointer, `${field}/*`)
}

function isSame(pointer: string, field: string): boolean {
  return pointer.split('/').length === field.split('/').length && touches(pointer, field)
}

function checkEndpoints(rule: RuleView, { endpoints }: Use, report: Report): void {
  // If the endpoints are unknown, another check has reported why.
  if (endpoints.size === 0) return
  for (const [index, endpoint] of asList(rule.value.endpoints).entries()) {
    if (endpoints.has(endpoint as Endpoint)) continue
    const message = `no ${String(endpoint)} body goes upstream here`
    report(rule, ['endpoints', index], 'rule-endpoint', message, `write one of: ${[...endpoints].join(', ')}`)
  }
}

function checkStars(rule: RuleView, report: Report): void {
  const count = (key: string) =>
    asText(rule.value[key])
      .split('/')
      .filter(step => step === '*').length
  if (rule.value.op !== 'move' || count('to') <= count('from')) return
  report(
    rule,
    ['to'],
    'rule-star',
    '`to` has a `*` that `from` does not supply',
    'use at most as many `*` in `to` as in `from`',
  )
}

function checkBounds(rule: RuleView, report: Report): void {
  const { op, min, max } = rule.value
  if (op !== 'clamp' || typeof min !== 'number' || typeof max !== 'number' || min <= max) return
  report(rule, ['min'], 'out-of-range', `min is ${min}, above max ${max}`, `write at most ${max}`)
}

/**
 * Reports rules that never have an effect. Either they write the value that is already there, or their condition contradicts
 * what they do, such as removing a field if it is absent.
 */
function checkVain({ value, ...place }: RuleView, report: Report): void {
  const { op, path, from, to, values } = value
  const { path: tested, exists } = asRecord(value.when)
  const table = Object.entries(asRecord(values))
  const isIdentity = table.length > 0 && table.every(([old, now]) => old === String(now))
  const reason =
    op === 'move' && from === to
      ? 'it moves the value to where it already is'
      : op === 'map' && isIdentity
        ? 'each value maps to itself'
        : tested === path && path !== undefined && exists === (op === 'default')
          ? 'its condition excludes what it works on'
          : null
  if (reason === null || (op === 'set' && exists === false)) return
  report(place, [], 'rule-vain', `the rule does nothing: ${reason}`, 'correct or remove it')
}

/** Whether two pointers are equal or one is a parent of the other; `*` matches any step. */
function touches(a: string, b: string): boolean {
  const left = a.split('/')
  const right = b.split('/')
  const length = Math.min(left.length, right.length)
  for (let index = 1; index < length; index++) {
    if (left[index] !== '*' && right[index] !== '*' && left[index] !== right[index]) return false
  }
  return true
}

function show({ file, path, value }: RuleView): string {
  const place = file.locate(path)
  return `\`${String(value.op)} ${String(value.path ?? value.from)}\` at ${place.file}:${place.line}`
}

/**
 * Notes rules that have no effect: a later unconditional rule overwrites or removes what they wrote, or an earlier one took away
 * what they work on.
 */
function noteShadows(chain: readonly RuleView[], uses: ReadonlyMap<RuleView, Use>): void {
  for (const [index, rule] of chain.entries()) {
    const use = uses.get(rule)
    if (use === undefined) continue
    use.chains++
    const shadow = chain.slice(index + 1).find(later => isUndone(rule, later))
    if (shadow !== undefined) use.shadows.push(shadow)
    const before = chain.slice(0, index)
    for (const needed of neededBy(rule)) {
      const taker = before.findLast(earlier => takesAway(earlier, rule, needed) || restores(earlier, needed))
      if (taker === undefined || restores(taker, needed) || isUndone(taker, rule)) continue
      use.takers.push(taker)
      break
    }
    const filler = before.findLast(earlier => fills(earlier, rule) || mayEmpty(earlier, rule))
    if (filler !== undefined && !mayEmpty(filler, rule)) use.takers.push(filler)
  }
}

function isUndone({ value }: RuleView, { value: { op, path, when, endpoints } }: RuleView): boolean {
  if (when !== undefined || (op !== 'set' && op !== 'drop') || !covers(endpoints, value.endpoints)) return false
  return isWithin(asText(value.op === 'move' ? value.to : value.path), asText(path))
}

/** What must be in the body for a rule to do anything: what it changes, unless it can also write it, and what it tests. */
function neededBy({ value: { op, path, from, when } }: RuleView): readonly string[] {
  const changed = op === 'set' || op === 'default' ? '' : asText(op === 'move' ? from : path)
  const { path: tested, exists } = asRecord(when)
  return [changed, exists === false ? '' : asText(tested)].filter(pointer => pointer !== '')
}

function takesAway({ value: { op, path, from, when, endpoints } }: RuleView, later: RuleView, needed: string): boolean {
  if (when !== undefined || (op !== 'drop' && op !== 'move') || !covers(endpoints, later.value.endpoints)) return false
  return isWithin(needed, asText(op === 'move' ? from : path))
}

/** Whether a rule may write what a later one needs. */
function restores({ value: { op, path, to } }: RuleView, needed: string): boolean {
  const written = op === 'move' ? to : op === 'set' || op === 'default' ? path : undefined
  return written !== undefined && touches(asText(written), needed)
}

/** Whether a later `default` finds its place filled by this rule, whatever the body. */
function fills({ value: { op, path, when, endpoints } }: RuleView, { value: later }: RuleView): boolean {
  if (later.op !== 'default' || (op !== 'set' && op !== 'default') || when !== undefined) return false
  return path === later.path && !asText(path).includes('*') && covers(endpoints, later.endpoints)
}

/** Whether a rule may empty the place that a later `default` fills. */
function mayEmpty({ value: { op, path, from } }: RuleView, { value: later }: RuleView): boolean {
  return (op === 'drop' || op === 'move') && touches(asText(op === 'move' ? from : path), asText(later.path))
}

/** Whether a pointer names the same as `outer`, or something inside it. A `*` of `outer` matches any step. */
function isWithin(pointer: string, outer: string): boolean {
  const [steps, parents] = [pointer.split('/'), outer.split('/')]
  return parents.length <= steps.length && parents.every((step, index) => step === '*' || step === steps[index])
}

function covers(later: unknown, earlier: unknown): boolean {
  if (later === undefined) return true
  return earlier !== undefined && asList(earlier).every(endpoint => asList(later).includes(endpoint))
}
