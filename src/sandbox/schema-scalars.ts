/**
 * Makes strings and numbers for a JSON Schema. They come from the prompt, unless the schema's format or pattern, or the
 * property's name, calls for another value.
 */

import type { JsonObject } from './json.ts'
import type { Hints } from './model.ts'
import { patternString } from './pattern.ts'

const CHARACTERS_MAX = 4_096

const FORMATS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-15T09:30:00Z',
  date: '2026-01-15',
  time: '09:30:00Z',
  duration: 'PT1H',
  email: 'an@example.com',
  'idn-email': 'an@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.10',
  ipv6: '2001:db8::10',
  uri: 'https://example.com/sandbox',
  url: 'https://example.com/sandbox',
  iri: 'https://example.com/sandbox',
  'uri-reference': '/sandbox',
  'iri-reference': '/sandbox',
  'uri-template': '/sandbox/{id}',
  uuid: '3f2b8c1e-5d4a-4c6b-9e7f-0a1b2c3d4e5f',
  regex: '^sandbox$',
  'json-pointer': '/sandbox',
  'relative-json-pointer': '1/sandbox',
  byte: 'c2FuZGJveA==',
}

/** Harmless values for properties whose names suggest that a tool may act on them. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/command|cmd|script/i, 'echo sandbox'],
  [/url|uri|link/i, 'https://example.com/sandbox'],
  [/path|file|dir/i, 'sandbox-example.txt'],
  [/e-?mail/i, 'an@example.com'],
  [/date/i, '2026-01-15'],
  [/pattern|regex/i, 'sandbox'],
]

/**
 * A string that fits `format` or, without a known format, `pattern`, `minLength` (up to 4,096) and `maxLength` (default:
 * 4,096).
 */
export function stringFor(schema: JsonObject, name: string, hints: Hints): string {
  const lengthMin = Math.min(typeof schema.minLength === 'number' ? schema.minLength : 0, CHARACTERS_MAX)
  const lengthMax = typeof schema.maxLength === 'number' ? schema.maxLength : CHARACTERS_MAX
  const format = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  if (format !== undefined) return format
  if (typeof schema.pattern === 'string') return patternString(schema.pattern, { lengthMin, lengthMax })
  const named = BY_NAME.find(([pattern]) => pattern.test(name))?.[1]
  const hint = named === undefined ? hints.strings.shift() : undefined
  return fitLength(hint ?? named ?? `sandbox ${name}`, { lengthMin, lengthMax })
}

/** A number within the schema's bounds that is a multiple of `multipleOf` and, for integers, whole. */
export function numberFor(schema: JsonObject, hints: Hints): number {
  const whole = schema.type === 'integer'
  const step = typeof schema.multipleOf === 'number' && schema.multipleOf > 0 ? schema.multipleOf : whole ? 1 : 0
  const { low, high } = bounds(schema, whole || step > 0 ? step || 1 : 0.5)
  const fits = (value: number) =>
    value >= low && value <= high && (!whole || Number.isInteger(value)) && (step === 0 || isMultiple(value, step))
  const position = hints.numbers.findIndex(fits)
  if (position >= 0) return hints.numbers.splice(position, 1)[0]!
  if (fits(1)) return 1
  const start = Number.isFinite(low) ? low : Number.isFinite(high) ? high : 0
  if (step === 0) return start
  const rounded = Number.isFinite(low) ? Math.ceil(start / step) * step : Math.floor(start / step) * step
  return Number(rounded.toPrecision(15))
}

function bounds(schema: JsonObject, margin: number): { low: number; high: number } {
  let low = typeof schema.minimum === 'number' ? schema.minimum : Number.NEGATIVE_INFINITY
  let high = typeof schema.maximum === 'number' ? schema.maximum : Number.POSITIVE_INFINITY
  const { exclusiveMinimum, exclusiveMaximum } = schema
  const gap =
    typeof exclusiveMinimum === 'number' && typeof exclusiveMaximum === 'number'
      ? Math.min(margin, (exclusiveMaximum - exclusiveMinimum) / 2)
      : margin
  if (typeof exclusiveMinimum === 'number') low = Math.max(low, exclusiveMinimum + gap)
  else if (exclusiveMinimum === true) low += gap
  if (typeof exclusiveMaximum === 'number') high = Math.min(high, exclusiveMaximum - gap)
  else if (exclusiveMaximum === true) high -= gap
  return { low, high }
}

function isMultiple(value: number, step: number): boolean {
  const ratio = value / step
  return Math.abs(ratio - Math.round(ratio)) < 1e-9
}

function fitLength(text: string, { lengthMin, lengthMax }: { lengthMin: number; lengthMax: number }): string {
  const padded = text.length < lengthMin ? text + '.'.repeat(lengthMin - text.length) : text
  return padded.length > lengthMax ? padded.slice(0, Math.max(0, lengthMax)) : padded
}
