/** Renders docs/configuration.md: every environment variable, from the tables that the gateway itself reads. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import Handlebars from 'handlebars'
import { ENVIRONMENT } from '../src/app/environment.ts'
import { LIMITS, type LimitRow, limitVariable } from '../src/app/limits.ts'

export function renderConfiguration(): string {
  const limits = Object.entries<LimitRow & { readonly what: string }>(LIMITS).map(([name, row]) => ({
    variable: limitVariable(name),
    fallback: amount(name, row.fallback),
    production: row.production === undefined ? '' : `, in production ${amount(name, row.production)}`,
    range: `${readable(name, row.min)} – ${readable(name, row.max)}`,
    what: row.what,
  }))
  const source = readFileSync(join(import.meta.dirname, 'templates/configuration.hbs'), 'utf8')
  return Handlebars.compile(source, { noEscape: true, strict: true })({ groups: ENVIRONMENT.map(withRequired), limits })
}

function withRequired(group: (typeof ENVIRONMENT)[number]) {
  const variables = group.variables.map(variable => ({
    ...variable,
    required: variable.required ? ' *(required)*' : '',
  }))
  return { ...group, variables }
}

type Unit = readonly [name: string, size: number]

const TIMES: readonly Unit[] = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]
const SIZES: readonly Unit[] = [
  ['GiB', 1024 ** 3],
  ['MiB', 1024 ** 2],
  ['KiB', 1024],
]

/** Formats a number in the largest unit that divides it evenly. */
function readable(limit: string, value: number): string {
  const units = limit.endsWith('Ms') ? TIMES : limit.includes('Bytes') ? SIZES : []
  const [name, size] = units.find(([, size]) => value > 0 && value % size === 0) ?? ['', 1]
  return name === '' ? String(value) : `${value / size} ${name}`
}

/** Formats a number as written in the environment, followed by a readable form such as `20 MiB` where there is one. */
function amount(limit: string, value: number): string {
  const text = readable(limit, value)
  return text === String(value) ? `\`${value}\`` : `\`${value}\` (${text})`
}
