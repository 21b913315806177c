/** Renders the TypeScript source of the catalogue's defaults and of the upstreams. */

import type { Upstream } from '../src/generated/types.ts'
import { isSameData } from './canonical.ts'
import type { StatedFacts } from './layers.ts'
import { Code, literal, Members } from './literal.ts'
import { camelName } from './names.ts'
import type { Outline } from './outline.ts'

/**
 * Builds an object literal that spreads `base` and adds the facts in `stated`, one per line. Each group of facts spreads the
 * group of the same name in `base`.
 */
export function statedMembers(stated: StatedFacts, base: string | null, arrowParameters?: string): Members {
  const own = [...stated].map(([word, value]): [string, unknown] => {
    if (!(value instanceof Map)) return [word, value]
    return [word, statedMembers(value, base === null ? null : `${base}.${word}`)]
  })
  return new Members(base === null ? [] : [base], own, {
    isMultiline: true,
    ...(arrowParameters !== undefined && { arrowParameters }),
  })
}

/** Name of the generated constant with the facts that an upstream's API adds to those of every model behind it. */
export function hostName(id: string): string {
  return `${camelName(id)}Host`
}

export function defaultsContext({ defaults, perCall }: Outline): Record<string, string> {
  const multiline = { isMultiline: true }
  return {
    dialect: literal(statedMembers(defaults.dialect, null)),
    extras: literal(statedMembers(defaults.extras, null)),
    entry: literal(new Members([], Object.entries(defaults.entry), multiline)),
    upstream: literal(new Members([], Object.entries(defaults.upstream), multiline)),
    perCall: literal(statedMembers(perCall.dialect, 'dialect', '(dialect: Dialect): Dialect')),
  }
}

export function upstreamsContext(outline: Outline, upstreams: readonly Upstream[]) {
  return {
    hosts: outline.hosts.map(({ name, dialect, extras, rules }) => ({
      name: hostName(name),
      code: literal(
        new Members(
          [],
          [
            ['dialect', dialect.size === 0 ? new Code('model => model') : statedMembers(dialect, 'model', 'model')],
            ['extras', extras.size === 0 ? new Code('EXTRAS') : statedMembers(extras, 'EXTRAS')],
            ['rules', rules],
          ],
          { isMultiline: true },
        ),
      ),
    })),
    upstreams: literal(
      upstreams.map(upstream => {
        const own = Object.entries(upstream).filter(([key, value]) => !isDefault(outline, key, value))
        return new Members(['UPSTREAM'], own, { isMultiline: true })
      }),
    ),
  }
}

function isDefault({ defaults }: Outline, key: string, value: unknown): boolean {
  const plain: Readonly<Record<string, unknown>> = { ...defaults.upstream }
  return Object.hasOwn(plain, key) && isSameData(plain[key], value)
}
