/** Templates from disk, each compiled once, on first use. They only receive data; user text is never compiled. */

import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import Handlebars from 'handlebars'
import type { Language } from '../../accounts/types.ts'
import type { MicroVnd } from '../../lib/money.ts'
import { isTextKey, text } from '../texts/index.ts'
import * as format from './format.ts'
import { icon } from './icons.ts'

/** Data that every template can use, as `@view`. */
export interface View {
  readonly language: Language
  readonly [name: string]: unknown
}

export interface Templates {
  /** Throws an Error if the template uses a field that the data lacks. */
  render(name: string, view: View, data: Readonly<Record<string, unknown>>): string
  readonly names: readonly string[]
}

type Options = Handlebars.HelperOptions & { readonly data: { readonly view: View } }

const HELPERS: Readonly<Record<string, Handlebars.HelperDelegate>> = {
  t(key: string, { data, hash }: Options) {
    if (!isTextKey(key)) throw new RangeError(`there is no text with the key ${key}`)
    return text(data.view.language, key, hash)
  },
  icon: (name: string) => new Handlebars.SafeString(icon(name)),
  dong: (amount: number) => format.dong(amount),
  dongOfMicro: (amount: MicroVnd) => format.dongOfMicro(amount),
  dongRough: (amount: MicroVnd) => format.dongRough(amount),
  dongShort: (amount: MicroVnd) => format.dongShort(amount),
  dongWhole: (amount: MicroVnd) => format.dongWhole(amount),
  figure: (value: number) => format.count(value),
  compact: (value: number) => format.compactCount(value),
  date: (value: Date) => format.date(value),
  calendarDay: (value: string) => format.day(value),
  time: (value: Date) => format.time(value),
  iso: (value: Date) => value.toISOString(),
  duration: (value: number) => format.duration(value),
  eq: (left: unknown, right: unknown) => left === right,
  or: (...values: unknown[]) => values.slice(0, -1).some(Boolean),
  and: (...values: unknown[]) => values.slice(0, -1).every(Boolean),
  not: (value: unknown) => !value,
  concat: (...parts: unknown[]) => parts.slice(0, -1).join(''),
  /** Escapes a string and turns `[words](/path)` into a link to a page of this site. */
  linked: (value: string) =>
    new Handlebars.SafeString(
      Handlebars.escapeExpression(value).replace(/\[([^\][]+)\]\((\/[a-z/]+)\)/g, '<a href="$2">$1</a>'),
    ),
  /** Escapes a string and wraps anything in backticks in `<code>`. */
  rich: (value: string) =>
    new Handlebars.SafeString(Handlebars.escapeExpression(value).replace(/&#x60;(.+?)&#x60;/g, '<code>$1</code>')),
}

const COMPILE: CompileOptions = { strict: true, preventIndent: true }

/**
 * Reads `<folder>/*.hbs` as templates and `<folder>/partials/*.hbs` as partials. A template with a syntax error breaks only the
 * page that uses it, when it is first rendered.
 */
export function loadTemplates(folder: string): Templates {
  const handlebars = Handlebars.create()
  for (const [name, helper] of Object.entries(HELPERS)) handlebars.registerHelper(name, helper)
  const partials = join(folder, 'partials')
  for (const name of templatesIn(partials)) {
    handlebars.registerPartial(name, handlebars.compile(readTemplate(partials, name), COMPILE))
  }
  const compiled = new Map(
    templatesIn(folder).map(name => [name, handlebars.compile(readTemplate(folder, name), COMPILE)]),
  )
  return {
    names: [...compiled.keys()],
    render(name, view, data) {
      const template = compiled.get(name)
      if (template === undefined) throw new RangeError(`there is no template ${name}`)
      return template(data, { data: { view } })
    },
  }
}

function templatesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter(name => name.endsWith('.hbs'))
    .map(name => basename(name, '.hbs'))
    .sort()
}

function readTemplate(folder: string, name: string): string {
  return readFileSync(join(folder, `${name}.hbs`), 'utf8')
}
