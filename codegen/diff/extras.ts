/**
 * Describes what changed extras mean for the operator, who pays the providers. Extras are request fields and tools that a
 * provider charges for on top of tokens.
 */

import type { Extras, FieldTreatment, ToolTreatment } from '../../src/generated/types.ts'

export const EXTRAS_PREFIX = 'extras.'

/** Lists each extra and its treatment, as text that `effectOf` can parse. */
export function extrasFacts({ fields, tools }: Extras): [what: string, treatment: string][] {
  const all = [...Object.entries(fields), ...Object.entries(tools)]
  return all.map(([word, treatment]) => [EXTRAS_PREFIX + word, describe(treatment)])
}

function describe(treatment: FieldTreatment | ToolTreatment): string {
  if (typeof treatment === 'string') return treatment
  if ('free' in treatment) return `free: ${treatment.free.join(', ')}`
  const { price, uses_max: usesMax } = treatment
  return `${price.vnd} VND per ${price.per}${usesMax === undefined ? '' : `, ${usesMax} held for`}`
}

/** What the provider may bill for an extra. 0: nothing; 1: uses for which the client pays a price; 2: any use. */
function opennessOf(treatment: string): 0 | 1 | 2 {
  if (treatment === 'allow' || treatment === '–') return 2
  return priceOf(treatment) === null ? 0 : 1
}

function priceOf(treatment: string): number | null {
  const vnd = /^(\d+) VND per /.exec(treatment)?.[1]
  return vnd === undefined ? null : Number(vnd)
}

/** Describes the effect of a changed treatment in a few words; in bold if more uses of the extra reach the provider. */
export function effectOf({ old, new: now }: { readonly old: string; readonly new: string }): string {
  const [before, after] = [priceOf(old), priceOf(now)]
  if (before !== null && after !== null) {
    const percent = ((after - before) / before) * 100
    return percent === 0 ? 'the hold changes' : `${percent > 0 ? '+' : '−'}${Math.abs(percent).toFixed(1)} % per use`
  }
  const [wasOpen, isOpen] = [opennessOf(old), opennessOf(now)]
  if (isOpen === 2)
    return wasOpen === 2 ? 'as before' : '**passes at the plain price: the operator pays what the provider bills**'
  if (isOpen === 1) return wasOpen === 2 ? 'sold; used to pass at the plain price' : '**passes and is sold**'
  if (wasOpen > 0) return 'no longer passes'
  return valuesOf(now).some(value => !valuesOf(old).includes(value))
    ? '**more values pass**'
    : 'the same or less passes'
}

/** A change of an extra's treatment. */
interface TreatmentChange {
  readonly what: string
  readonly old: string
  readonly new: string
}

export interface ExtraJudgement {
  /** The extra's name in the catalogue. */
  readonly word: string
  /** What a use costs from now on, in VND; null if it is not sold. */
  readonly vnd: number | null
  /** True if calls that stay the same cost more, or far less, from now on. */
  readonly isLarge: boolean
}

/** Judges a changed treatment: a new price is large beyond the threshold, and where uses were free or left out of the request. */
export function judgeExtra(change: TreatmentChange, thresholdPercent: number): ExtraJudgement {
  const word = change.what.slice(EXTRAS_PREFIX.length).replace(/ \(.*/, '')
  const [before, vnd] = [priceOf(change.old), priceOf(change.new)]
  const isSold = vnd !== null && before !== null
  const isLarge = isSold
    ? (Math.abs(vnd - before) / before) * 100 > thresholdPercent
    : vnd !== null && change.old !== 'refuse'
  return { word, vnd, isLarge }
}

function valuesOf(treatment: string): string[] {
  return treatment.startsWith('free: ') ? treatment.slice(6).split(', ') : []
}
