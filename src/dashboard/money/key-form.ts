/** Renders and reads the form for a key's name and limits. */

import { createHash } from 'node:crypto'
import { CALLS_PER_MINUTE_MAX, CONCURRENCY_MAX } from '../../accounts/key-rate.ts'
import { ALLOWED_MODELS_MAX, KEY_CAP_VND_MAX, type KeySettings } from '../../accounts/key-settings.ts'
import { cleanLabel } from '../../accounts/keys.ts'
import type { OwnKey } from '../../accounts/own-keys.ts'
import { familiesOf, readAllowed } from '../../catalogue/allowed.ts'
import { addDays, dayOf, isDay, startOfDay } from '../../ledger/reports/days.ts'
import { day } from '../../lib/display.ts'
import { MICRO_PER_VND, vndToMicro } from '../../lib/money.ts'
import { PERIODS, type Period } from '../../lib/period.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import type { PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { count, dong } from '../view/format.ts'

const MODELS_CHARACTERS_MAX = 4_000
const EXPIRY_YEARS_MAX = 10
const RESETS = [...PERIODS, 'never'] as const

export type SettingsFault = 'cap' | 'expires' | 'models' | 'rate' | 'flight'
export type SettingsFaults = Partial<Record<SettingsFault, string>>

type Standing = Pick<
  OwnKey,
  | 'label'
  | 'limitMicroVnd'
  | 'limitReset'
  | 'expiresAt'
  | 'allowedModels'
  | 'rateLimitPerMinute'
  | 'rateHeld'
  | 'concurrencyMax'
  | 'concurrencyHeld'
>

/** Initial values of the form for a new key. */
export const UNLIMITED: Standing = {
  label: '',
  limitMicroVnd: null,
  limitReset: 'monthly',
  expiresAt: null,
  allowedModels: null,
  rateLimitPerMinute: null,
  rateHeld: false,
  concurrencyMax: null,
  concurrencyHeld: false,
}

/** Stands for the key's settings in the form, to find out whether they have changed since the form was shown. */
function fingerprint(key: Standing): string {
  const { label, limitMicroVnd, limitReset, expiresAt, allowedModels } = key
  const rate = key.rateHeld ? 'held' : key.rateLimitPerMinute
  const flight = key.concurrencyHeld ? 'held' : key.concurrencyMax
  const settings = [label, String(limitMicroVnd), limitReset, expiresAt?.getTime() ?? null, allowedModels, rate, flight]
  return createHash('sha256').update(JSON.stringify(settings)).digest('base64url').slice(0, 16)
}

/**
 * Whether the form was shown before the key's settings were changed elsewhere, so that it would undo that change. A form without
 * `seen` is not.
 */
export function isOutdated({ form }: PageRequest, key: Standing, settings: KeySettings): boolean {
  const seen = form.text('seen')
  const wanted: Standing = {
    ...key,
    label: cleanLabel(settings.label),
    limitMicroVnd: settings.limitVnd === null ? null : vndToMicro(settings.limitVnd),
    limitReset: settings.limitReset,
    expiresAt: settings.expiresAt,
    allowedModels: settings.allowedModels,
    rateLimitPerMinute: settings.callsPerMinute,
    concurrencyMax: settings.callsInFlight,
  }
  return seen !== '' && seen !== fingerprint(key) && fingerprint(wanted) !== fingerprint(key)
}

/** What the form shows: the submitted values if `isTyped`, otherwise the key's current settings. */
export function settingsView(
  { options, form, language }: PageRequest,
  key: Standing,
  { faults = {}, isTyped }: { readonly faults?: SettingsFaults | undefined; readonly isTyped: boolean },
) {
  const { settings } = options.catalogue
  const standing = {
    label: key.label,
    cap: key.limitMicroVnd === null ? '' : dong(key.limitMicroVnd / MICRO_PER_VND).slice(0, -2),
    expires: expiryOf(key),
    rate: key.rateHeld || key.rateLimitPerMinute === null ? '' : count(key.rateLimitPerMinute),
    flight: key.concurrencyHeld || key.concurrencyMax === null ? '' : count(key.concurrencyMax),
  }
  const typed = (name: keyof typeof standing) => (isTyped ? form.text(name, 100) : standing[name])
  const models = isTyped ? form.lines('models', MODELS_CHARACTERS_MAX) : (key.allowedModels ?? []).join('\n')
  const reset = (isTyped ? form.choice('reset', RESETS) : null) ?? key.limitReset ?? 'never'
  const rate = key.rateLimitPerMinute ?? settings.rateLimitPerMinute
  const flight = key.concurrencyMax ?? settings.concurrencyMax
  return {
    seen: fingerprint(key),
    label: typed('label'),
    cap: typed('cap'),
    resets: RESETS.map(value => ({ value, label: text(language, `keys.reset.${value}`), isChosen: value === reset })),
    expires: typed('expires'),
    models,
    families: familiesOf(options.catalogue)
      .map(family => `${family}/*`)
      .join(', '),
    rate: typed('rate'),
    rateLimit: rate === 0 ? null : count(rate),
    isRateHeld: key.rateHeld,
    flight: typed('flight'),
    flightLimit: flight === 0 ? null : count(flight),
    isFlightHeld: key.concurrencyHeld,
    faults: { cap: null, expires: null, models: null, rate: null, flight: null, ...faults },
  }
}

/** The last day in Vietnam on which the key works; '' if it does not expire. */
function expiryOf({ expiresAt }: Standing): string {
  return expiresAt === null ? '' : dayOf(new Date(expiresAt.getTime() - 1))
}

/** Returns the submitted settings, or what is wrong with them. */
export function readSettings(
  { options, form, language, now }: PageRequest,
  key: Standing,
): { readonly settings: KeySettings } | { readonly faults: SettingsFaults } {
  const { settings } = options.catalogue
  const rateMax = ownersMax(CALLS_PER_MINUTE_MAX, settings.rateLimitPerMinute)
  const flightMax = ownersMax(CONCURRENCY_MAX, settings.concurrencyMax)
  const cap = readOptional(form.text('cap'), KEY_CAP_VND_MAX)
  const rate = readOptional(form.text('rate'), rateMax)
  const flight = readOptional(form.text('flight'), flightMax)
  const expiresAt = readExpiry(form.text('expires'), key, now)
  const names = form
    .lines('models', MODELS_CHARACTERS_MAX)
    .split(/[\s,;]+/)
    .filter(Boolean)
  const { allowed, unknown } = readAllowed(options.catalogue, names)
  const faults: SettingsFaults = {
    ...(cap === undefined && { cap: text(language, 'keys.cap.fault', { max: dong(KEY_CAP_VND_MAX) }) }),
    ...(rate === undefined && { rate: text(language, 'keys.rate.fault', { max: count(rateMax) }) }),
    ...(flight === undefined && { flight: text(language, 'keys.rate.fault', { max: count(flightMax) }) }),
    ...(expiresAt === undefined && {
      expires: text(language, 'keys.expires.fault', { last: day(lastExpiryDay(now)) }),
    }),
    ...(allowed.length > ALLOWED_MODELS_MAX && {
      models: text(language, 'keys.models.many', { max: ALLOWED_MODELS_MAX }),
    }),
    ...(unknown.length > 0 && {
      models: text(language, 'keys.models.fault', { name: (unknown[0] as string).slice(0, 100) }),
    }),
  }
  if (
    cap === undefined ||
    rate === undefined ||
    flight === undefined ||
    expiresAt === undefined ||
    Object.keys(faults).length > 0
  ) {
    return { faults }
  }
  const reset = form.choice('reset', RESETS) ?? key.limitReset ?? 'never'
  return {
    settings: {
      label: form.text('label', 100),
      limitVnd: cap,
      limitReset: reset === 'never' ? null : (reset as Period),
      expiresAt,
      allowedModels: allowed.length === 0 ? null : allowed,
      callsPerMinute: rate,
      callsInFlight: flight,
    },
  }
}

/** The most that an owner may choose: the catalogue's limit for all keys, where it has one (not 0), applies too. */
function ownersMax(max: number, catalogueLimit: number): number {
  return catalogueLimit === 0 ? max : Math.min(max, catalogueLimit)
}

/** Reads a number from 1 to `max`. Null for empty input; undefined for invalid input. */
function readOptional(typed: string, max: number): number | null | undefined {
  if (typed === '') return null
  const value = readAmountVnd(typed)
  return value !== null && value >= 1 && value <= max ? value : undefined
}

function lastExpiryDay(now: Date): string {
  return addDays(dayOf(now), EXPIRY_YEARS_MAX * 366)
}

/**
 * Returns the end of the submitted day; undefined if it is invalid. A past expiry day is accepted if it is unchanged, so that
 * an expired key can be renamed.
 */
function readExpiry(typed: string, key: Standing, now: Date): Date | null | undefined {
  if (typed === '') return null
  if (typed === expiryOf(key)) return key.expiresAt
  if (!isDay(typed) || typed < dayOf(now) || typed > lastExpiryDay(now)) return undefined
  return startOfDay(addDays(typed, 1))
}
