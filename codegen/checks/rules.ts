/** Checks of rules: nothing that is billed, metered or needed may go, and no rule may be in vain. */

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

/** What the bill and the meter depend on. */
export const BILLED = ['/model', '/stream', '/stream_options']
/** The number of choices or images: a rule may drop or lower it, nothing else. */
export const CHOICES = '/n'
/** Caps of the output: a rule may lower them, nothing else. */
export const OUTPUT_CAPS = ['/max_tokens', '/max_completion_tokens', '/max_output_tokens']

interface RuleView extends Place {
  readonly value: Loose
}

/** In how many chains (one per target) a rule stands, whose bodies it meets, and what undoes it there. */
interface Use {
  chains: number
  readonly endpoints: Set<Endpoint>
  readonly shadows: RuleView[]
}

export function checkRules(view: CatalogueView, report: Report): void {
  const hostRules = new Map([...view.hosts.values()].map(host => [host.id, rulesOf(host, host.value)]))
  const uses = new Map<RuleView, Use>()
  const note = (rules: readonly RuleView[]) => {
    for (const rule of rules) uses.set(rule, { chains: 0, endpoints: new Set(), shadows: [] })
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
  for (const [rule, use] of uses) {
    checkBilled(rule, report)
    checkNeeded(rule, use, report)
    checkEndpoints(rule, use, report)
    checkStars(rule, report)
    checkBounds(rule, report)
    checkVain(rule, report)
    const shadow = use.shadows[0]
    if (shadow === undefined || use.shadows.length < use.chains) continue
    const place = shadow.file.locate(shadow.path)
    const message = `\`${String(shadow.value.op)} ${String(shadow.value.path)}\` at ${place.file}:${place.line} undoes this rule`
    report(rule, [], 'rule-shadowed', message, 'leave one of the two out')
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
        `${pointer} could raise ${CHOICES}, of which each one is billed`,
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

/** A conversation, a prompt or a voice may be changed within, but not go as a whole, nor be the same for all. */
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
  const message = op === 'set' ? `${needed} would be the same in every call` : `no call can do without ${needed}`
  report(rule, [key], 'rule-needed', message, 'leave the rule out, or name what lies below')
}

/** Whether a pointer names the field, what it lies in, or all of its members. */
function takesAll(pointer: string, field: string): boolean {
  const isWithin = pointer.split('/').length <= field.split('/').length && touches(pointer, field)
  return isWithin || isSame(pointer, `${field}/*`)
}

function isSame(pointer: string, field: string): boolean {
  return pointer.split('/').length === field.split('/').length && touches(pointer, field)
}

function checkEndpoints(rule: RuleView, { endpoints }: Use, report: Report): void {
  // Of what cannot be known, the reason is a finding of its own.
  if (endpoints.size === 0) return
  for (const [index, endpoint] of asList(rule.value.endpoints).entries()) {
    if (endpoints.has(endpoint as Endpoint)) continue
    const message = `no body of ${String(endpoint)} goes upstream here`
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
    'the goal has a `*` that the source does not give',
    'use at most as many `*` in `to` as in `from`',
  )
}

function checkBounds(rule: RuleView, report: Report): void {
  const { op, min, max } = rule.value
  if (op !== 'clamp' || typeof min !== 'number' || typeof max !== 'number' || min <= max) return
  report(rule, ['min'], 'out-of-range', `min is ${min}, above max ${max}`, `write at most ${max}`)
}

/** What a rule writes is what was there, or its condition rules out what it works on. */
function checkVain({ value, ...place }: RuleView, report: Report): void {
  const { op, path, from, to, values } = value
  const { path: tested, exists } = asRecord(value.when)
  const table = Object.entries(asRecord(values))
  const isIdentity = table.length > 0 && table.every(([old, now]) => old === String(now))
  const reason =
    op === 'move' && from === to
      ? 'it moves the value to where it is'
      : op === 'map' && isIdentity
        ? 'each value becomes what it was'
        : tested === path && path !== undefined && exists === (op === 'default')
          ? 'its condition rules out what it works on'
          : null
  if (reason === null || (op === 'set' && exists === false)) return
  report(place, [], 'rule-vain', `the rule does nothing: ${reason}`, 'correct it, or leave it out')
}

/** Whether one pointer is the other, or lies above or below it, with `*` for any step. */
function touches(a: string, b: string): boolean {
  const left = a.split('/')
  const right = b.split('/')
  const length = Math.min(left.length, right.length)
  for (let index = 1; index < length; index++) {
    if (left[index] !== '*' && right[index] !== '*' && left[index] !== right[index]) return false
  }
  return true
}

/** A later unconditional rule that overwrites or removes what an earlier one wrote leaves the earlier one without effect. */
function noteShadows(chain: readonly RuleView[], uses: ReadonlyMap<RuleView, Use>): void {
  for (const [index, earlier] of chain.entries()) {
    const use = uses.get(earlier)
    if (use === undefined) continue
    use.chains++
    const written = earlier.value.op === 'move' ? earlier.value.to : earlier.value.path
    const shadow = chain.slice(index + 1).find(({ value: { op, path, when, endpoints } }) => {
      const isUnconditional = when === undefined && (op === 'set' || op === 'drop')
      return isUnconditional && path === written && covers(endpoints, earlier.value.endpoints)
    })
    if (shadow !== undefined) use.shadows.push(shadow)
  }
}

function covers(later: unknown, earlier: unknown): boolean {
  if (later === undefined) return true
  return earlier !== undefined && asList(earlier).every(endpoint => asList(later).includes(endpoint))
}
