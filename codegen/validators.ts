/**
 * Validates with cached code that Ajv generated earlier. Ajv itself is loaded, and compiles the schemas, only if that code is
 * missing or finds the file invalid.
 */

import { createRequire } from 'node:module'
import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import type { Schemas } from './schemas.ts'
import { cachedText } from './text-cache.ts'

const FILE_KINDS = ['catalogue', 'upstreams', 'family'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** Returns all errors in a file's value; empty if the value is valid. */
export type Validate = (kind: FileKind, value: unknown) => readonly ErrorObject[]

const require = createRequire(import.meta.url)

const OPTIONS = {
  discriminator: true,
  strict: true,
  strictRequired: false,
  allowUnionTypes: true,
} as const

export function createValidate(schemas: Schemas): Validate {
  let ajv: Ajv | undefined
  return (kind, value) => {
    // `optimize` costs more time than it saves, even with thousands of files.
    ajv ??= createAjv(schemas, { allErrors: true, verbose: true, code: { optimize: false } })
    const validate = ajv.getSchema(idOf(kind)) as ValidateFunction
    return validate(value) === true ? [] : (validate.errors ?? [])
  }
}

/** Validates with the code that Ajv generated in an earlier run. It only tells whether a file is valid; if not, Ajv says why. */
export function createCachedValidate(schemas: Schemas): Validate {
  const isValid = cachedCode(schemas)
  const validate = createValidate(schemas)
  return (kind, value) => (isValid[kind]?.(value) === true ? [] : validate(kind, value))
}

type Code = Partial<Record<FileKind, (value: unknown) => boolean>>

function cachedCode(schemas: Schemas): Code {
  const cached = cachedText('validators.cjs', [schemas, OPTIONS])
  if (cached.path === null) return {}
  if (cached.read() === undefined) {
    const standalone = require('ajv/dist/standalone') as typeof import('ajv/dist/standalone/index.js').default
    const ids = Object.fromEntries(FILE_KINDS.map(kind => [kind, idOf(kind)]))
    cached.write(standalone(createAjv(schemas, { code: { source: true } }), ids))
  }
  try {
    return require(cached.path) as Code
  } catch {
    return {}
  }
}

function createAjv(schemas: Schemas, options: object): Ajv {
  const { Ajv } = require('ajv') as typeof import('ajv')
  const ajv = new Ajv({ ...OPTIONS, ...options })
  ajv.addKeyword('tsType')
  ajv.addKeyword('unit')
  for (const name of ['common', 'dialect', 'rule', 'family', 'upstreams', 'catalogue'] as const) {
    ajv.addSchema(schemas[name])
  }
  return ajv
}

function idOf(kind: FileKind): string {
  return `${kind}.schema.json`
}
