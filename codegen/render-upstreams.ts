/** Writes the source of the defaults and of the upstreams. */

import type { Upstream } from '../src/generated/types.ts'
import { isSameData } from './canonical.ts'
import type { Said } from './layers.ts'
import { Code, literal, Members } from './literal.ts'
import { camelName } from './names.ts'
import type { Outline } from './outline.ts'

/**
 * Builds an object that spreads the object `base` and adds the words of `said`, one per line. Its groups spread the groups of the
 * same name in `base`.
 */
export function saidMembers(said: Said, base: string | null, returnedOf?: string): Members {
  const own = [...said].map(([word, value]): [string, unknown] => {
    if (!(value instanceof Map)) return [word, value]
    return [word, saidMembers(value, base === null ? null : `${base}.${word}`)]
  })
  return new Members(base === null ? [] : [base], own, {
    isOpen: true,
    ...(returnedOf !== undefined && { returnedOf }),
  })
}

/** Name of the constant that holds what an upstream's API adds. */
export function hostName(id: string): string {
  return `${camelName(id)}Host`
}

export function defaultsContext({ defaults, perCall }: Outline): Record<string, string> {
  const open = { isOpen: true }
  return {
    dialect: literal(saidMembers(defaults.dialect, null)),
    extras: literal(saidMembers(defaults.extras, null)),
    entry: literal(new Members([], Object.entries(defaults.entry), open)),
    upstream: literal(new Members([], Object.entries(defaults.upstream), open)),
    perCall: literal(saidMembers(perCall.dialect, 'dialect', '(dialect: Dialect): Dialect')),
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
            ['dialect', dialect.size === 0 ? new Code('model => model') : saidMembers(dialect, 'model', 'model')],
            ['extras', extras.size === 0 ? new Code('EXTRAS') : saidMembers(extras, 'EXTRAS')],
            ['rules', rules],
          ],
          { isOpen: true },
        ),
      ),
    })),
    upstreams: literal(
      upstreams.map(upstream => {
        const own = Object.entries(upstream).filter(([key, value]) => !isDefault(outline, key, value))
        return new Members(['UPSTREAM'], own, { isOpen: true })
      }),
    ),
  }
}

function isDefault({ defaults }: Outline, key: string, value: unknown): boolean {
  const plain: Readonly<Record<string, unknown>> = { ...defaults.upstream }
  return Object.hasOwn(plain, key) && isSameData(plain[key], value)
}
