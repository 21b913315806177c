/** Turns schema errors into findings, each with its location. */

import type { ErrorObject } from 'ajv'
import { isScalar } from 'yaml'
import { findRenamed, isEcho, renamedKey } from './echoes.ts'
import type { Finding } from './findings.ts'
import { isUnderOldName } from './old-words.ts'
import { type Complaint, readError } from './schema-errors.ts'
import type { Schema, Schemas } from './schemas.ts'
import type { Path, SourceFile } from './source.ts'

/** Validates one file. A file that could not be read has its own findings and is not validated. */
export function validateFile(
  file: SourceFile,
  validate: (value: unknown) => readonly ErrorObject[],
  schemas: Schemas,
): Finding[] {
  if (file.value === undefined) return []
  const errors = validate(file.value).filter(isOwnError)
  const byPlace = Map.groupBy(errors, error => error.instancePath)
  const renamed = findRenamed(byPlace)
  const own = errors.filter(error => !isEcho(error, byPlace.get(error.instancePath) ?? [], renamed))
  return own.map(error => {
    const path = pointerSteps(error.instancePath)
    const meant = renamed.get(renamedKey(error, String(error.params.additionalProperty)))
    const complaint = { ...complaintOf(file, path, error), ...(meant !== undefined && { meant }) }
    const { code, message, fix, at = [], part = 'value' } = readError(complaint, schemas)
    return { ...file.locate([...path, ...at], part), code, message, fix }
  })
}

/** Keywords whose errors only say that some value further down has an error. That value's own error is reported instead. */
const ECHOES = new Set(['oneOf', 'if', 'allOf', 'propertyNames'])

function isOwnError({ keyword, schemaPath, params, data }: ErrorObject): boolean {
  const isOption = schemaPath.includes('/anyOf/')
  const isTag = keyword === 'required' && params.missingProperty === 'op'
  const isRenamed = keyword === 'required' && isUnderOldName(params.missingProperty, data)
  return !isOption && !isTag && !isRenamed && !ECHOES.has(keyword)
}

function complaintOf(file: SourceFile, path: Path, error: ErrorObject): Complaint {
  return {
    keyword: error.keyword,
    schema: (error.parentSchema ?? {}) as Schema,
    params: error.params as Record<string, unknown>,
    value: error.data as unknown,
    name: nameOf(path),
    path,
    key: error.propertyName,
    source: () => {
      const node = file.nodeAt(path)
      return isScalar(node) ? (node.source ?? '') : ''
    },
  }
}

function pointerSteps(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map(step => step.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Names a value by its key or, if it is an item, by its list's key. */
function nameOf(path: Path): string {
  const isIndex = (step: string | number | undefined) => /^[0-9]+$/.test(String(step))
  const last = path.findLast(step => !isIndex(step))
  if (last === undefined) return 'the file'
  return isIndex(path.at(-1)) ? `an item of "${last}"` : `"${last}"`
}
