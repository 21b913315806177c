/** Finds the places where a misplaced key belongs. */

import type { Schema, Schemas } from './schemas.ts'

/** The places where operators write keys, with their schemas. */
function placesOf({
  catalogue,
  upstreams,
  family,
  dialect,
  common,
}: Schemas): readonly (readonly [string, Schema | undefined])[] {
  const groups = Object.entries(dialect.properties ?? {}).map(
    ([name, group]) => [`\`${name}\` in a \`dialect\``, group] as const,
  )
  return [
    ['the top of catalogue.yaml', catalogue],
    ['an upstream in upstreams.yaml', upstreams.definitions?.host],
    ['the top of a family file', family],
    ['a model', family.definitions?.model],
    ['an entry of a model', family.definitions?.entry],
    ['the `upstream` of an entry', family.definitions?.target],
    ['the `price` of an entry', common.definitions?.price],
    ['a `dialect`', dialect],
    ...groups,
  ]
}

/** Maximum number of places that an error names. */
const PLACES_MAX = 2

/** Suggests where a misplaced key belongs; undefined if it is in the right place or belongs nowhere. */
export function homeOf(
  { key, value }: { readonly key: string; readonly value: unknown },
  here: Schema,
  schemas: Schemas,
): string | undefined {
  if (here.properties !== undefined && Object.hasOwn(here.properties, key)) return undefined
  const homes = placesOf(schemas)
    .filter(([, schema]) => takes(schema?.properties, key, value))
    .map(([name]) => name)
  return homes.length === 0 ? undefined : `it belongs in ${homes.slice(0, PLACES_MAX).join(' or ')}`
}

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  array: Array.isArray,
  object: value => value !== null && typeof value === 'object' && !Array.isArray(value),
  integer: Number.isInteger,
  number: value => typeof value === 'number',
  string: value => typeof value === 'string',
  boolean: value => typeof value === 'boolean',
}

/** Whether an object with these properties accepts the key with a value of this type. */
function takes(properties: Schema['properties'], key: string, value: unknown): boolean {
  if (properties === undefined || !Object.hasOwn(properties, key)) return false
  const types = [properties[key]?.type ?? []].flat()
  return types.length === 0 || types.some(type => TYPES[type]?.(value) === true)
}
