/** Where a key belongs that stands somewhere else. */

import type { Schema, Schemas } from './schemas.ts'

/** The places that operators write keys in, each with its schema. */
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

/** Most places that are named. */
const PLACES_MAX = 2

/** What to do with a key that other places have, and this one does not; undefined where none has it. */
export function homeOf(
  { key, value }: { readonly key: string; readonly value: unknown },
  here: Schema,
  schemas: Schemas,
): string | undefined {
  // What a dialect holds are groups of words.
  const isGroup = value !== null && typeof value === 'object'
  if (here.properties !== undefined && Object.hasOwn(here.properties, key)) return undefined
  const homes = placesOf(schemas)
    .filter(
      ([, schema]) =>
        (schema !== schemas.dialect || isGroup) &&
        schema?.properties !== undefined &&
        Object.hasOwn(schema.properties, key),
    )
    .map(([name]) => name)
  return homes.length === 0 ? undefined : `it belongs in ${homes.slice(0, PLACES_MAX).join(' or ')}`
}
