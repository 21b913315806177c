/** Reads the bodies of image calls: checks the fields that the gateway interprets and passes everything else through. */

import { GatewayError } from '../../errors.ts'
import type { ModelEntry } from '../../generated/types.ts'
import type { JsonObject, JsonValue } from '../../lib/json.ts'
import { FormError, isMultipart, readForm } from '../../lib/multipart.ts'
import { type BodyLimits, type ObjectBody, parseObject, requestedNameOf, streamedOf } from '../../pipeline/receive.ts'
import { type Reference, referenceOfBytes, referenceOfText } from './reference.ts'

export interface ImageRequest {
  readonly requestedName: string
  /** Length of the body as received, in bytes. */
  readonly bytes: number
  /** Images requested, at least 1. */
  readonly count: number
  readonly streamed: boolean
}

export interface Generation extends ImageRequest, ObjectBody {
  readonly kind: 'generation'
}

export interface Edit extends ImageRequest {
  readonly kind: 'edit'
  /** All fields except the images, parsed and ready to be sent to the provider. */
  readonly json: JsonObject
  readonly references: readonly Reference[]
  readonly mask: Reference | null
}

export interface ImageBodyLimits extends BodyLimits {
  readonly bodyBytesMax: number
}

/** Names under which a request may send its reference images; it must use only one of them. */
export const REFERENCE_NAMES = ['image', 'image_url', 'reference_image', 'ref_image'] as const
const REFERENCES_MAX = 16
const FORM_PARTS_MAX = 64
const FORM_FIELD_BYTES_MAX = 1024 * 1024

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_request', { message })
}

/** Reads the body of a generation. Rejects with GatewayError `malformed_json` or `invalid_request`. */
export async function readGeneration(raw: Buffer, limits: BodyLimits): Promise<Generation> {
  const body = await parseObject(raw, limits)
  return {
    kind: 'generation',
    ...body,
    bytes: raw.length,
    requestedName: requestedNameOf(body.json),
    ...readRequest(body.json),
  }
}

/** Reads the body of an edit: JSON with one reference image, or the multipart form that SDKs send. Rejects with GatewayError. */
export async function readEdit(raw: Buffer, contentType: string | undefined, limits: ImageBodyLimits): Promise<Edit> {
  return isMultipart(contentType) ? readFormEdit(raw, contentType as string, limits) : readJsonEdit(raw, limits)
}

async function readJsonEdit(raw: Buffer, limits: BodyLimits): Promise<Edit> {
  const { json } = await parseObject(raw, limits)
  const given = REFERENCE_NAMES.filter(name => json[name] !== undefined && json[name] !== null)
  const name = oneOf(given)
  const reference = json[name]
  if (typeof reference !== 'string' || reference === '') throw invalid(`${name}: Input should be a non-empty string`)
  const { mask } = json
  if (mask !== undefined && mask !== null && typeof mask !== 'string') throw invalid('mask: Input should be a string')
  const fields = without(json, [...REFERENCE_NAMES, 'mask'])
  checkParts(fields)
  return {
    kind: 'edit',
    bytes: raw.length,
    requestedName: requestedNameOf(json),
    ...readRequest(json),
    json: fields,
    references: [referenceOfText(name, reference)],
    mask: typeof mask === 'string' && mask !== '' ? referenceOfText('mask', mask) : null,
  }
}

/** Refuses fields that would make more parts of the provider's form than a client's own form may have. Writing parts is slow. */
function checkParts(fields: JsonObject): void {
  let parts = 0
  for (const value of Object.values(fields)) parts += Array.isArray(value) ? value.length : 1
  if (parts > FORM_PARTS_MAX)
    throw invalid(`The request has more than ${FORM_PARTS_MAX} fields, elements of lists included; send fewer.`)
}

async function readFormEdit(raw: Buffer, contentType: string, { bodyBytesMax }: ImageBodyLimits): Promise<Edit> {
  const limits = { partsMax: FORM_PARTS_MAX, fieldBytesMax: FORM_FIELD_BYTES_MAX, fileBytesMax: bodyBytesMax }
  const form = await readForm(raw, contentType, limits).catch((error: unknown) => {
    throw error instanceof FormError ? invalid(`multipart body: ${error.message}.`) : error
  })
  const images = form.files.filter(file => file.field !== 'mask')
  const texts = form.fields.filter(([name]) => isReference(name))
  const unknown = images.find(file => !isReference(file.field))
  if (unknown) throw invalid(`${unknown.field}: no such file field; send files as image, image[] or mask`)
  const names = new Set([...images.map(file => baseName(file.field)), ...texts.map(([name]) => baseName(name))])
  oneOf([...names])
  const references = [
    ...images.map(file => referenceOfBytes(file.field, file.bytes)),
    ...texts.map(([name, value]) => referenceOfText(name, value)),
  ]
  if (references.length > REFERENCES_MAX) throw invalid(`image: at most ${REFERENCES_MAX} images can be sent`)
  const maskFile = form.files.find(file => file.field === 'mask')
  const maskText = form.fields.find(([name]) => name === 'mask')?.[1]
  const fields = fieldsOf(form.fields.filter(([name]) => !isReference(name) && name !== 'mask'))
  return {
    kind: 'edit',
    bytes: raw.length,
    requestedName: requestedNameOf(fields),
    ...readRequest({ ...fields, n: numberOf(fields.n), stream: booleanOf(fields.stream) }),
    json: fields,
    references,
    mask: maskFile ? referenceOfBytes('mask', maskFile.bytes) : maskText ? referenceOfText('mask', maskText) : null,
  }
}

function baseName(field: string): string {
  return field.replace(/\[\d*\]$/, '')
}

function isReference(field: string): boolean {
  return REFERENCE_NAMES.some(name => name === baseName(field))
}

/** Returns the only name in `names`. Throws GatewayError when there is none or more than one. */
function oneOf(names: readonly string[]): string {
  const [name] = names
  const all = REFERENCE_NAMES.join(', ')
  if (name === undefined) throw invalid(`image: Field required; send the reference image under one of ${all}`)
  if (names.length > 1)
    throw invalid(`${names.join(', ')}: send the reference image under one name only (one of ${all})`)
  return name
}

function readRequest(json: JsonObject): { count: number; streamed: boolean } {
  const { prompt, size, n } = json
  if (prompt === undefined || prompt === null) throw invalid('prompt: Field required')
  if (typeof prompt !== 'string' || prompt.trim() === '') throw invalid('prompt: Input should be a non-empty string')
  if (
    size !== undefined &&
    size !== null &&
    !(typeof size === 'string' && /^(auto|[1-9]\d{0,4}x[1-9]\d{0,4})$/.test(size))
  )
    throw invalid('size: write <width>x<height> in pixels, e.g. 1024x1024, or auto')
  const count = n === undefined || n === null ? 1 : n
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 1)
    throw invalid('n: Input should be a whole number of images, 1 or more')
  return { count, streamed: streamedOf(json) }
}

/** Converts digits to a number, since form fields are always text. */
function numberOf(value: JsonValue | undefined): JsonValue | undefined {
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : value
}

function booleanOf(value: JsonValue | undefined): JsonValue | undefined {
  return value === 'true' ? true : value === 'false' || value === '' ? false : value
}

/** Makes an object of form fields; a repeated name becomes a list. */
function fieldsOf(pairs: readonly (readonly [string, string])[]): JsonObject {
  const names = [...new Set(pairs.map(([name]) => name))]
  return Object.fromEntries(
    names.map(name => {
      const values = pairs.filter(([other]) => other === name).map(([, value]) => value)
      return [name, values.length === 1 ? (values[0] as string) : values]
    }),
  )
}

function without(json: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)))
}

/** Throws GatewayError `invalid_request` when more images are requested, or given as references, than the entry allows per call. */
export function checkCounts(
  request: Generation | Edit,
  { imagesMax, referencesMax }: Pick<ModelEntry, 'imagesMax' | 'referencesMax'>,
): void {
  if (request.count > imagesMax) throw invalid(`n: at most ${imagesMax} images can be made in one call`)
  if (request.kind === 'edit' && request.references.length > referencesMax)
    throw invalid(`image: at most ${referencesMax} reference images can be sent with this model`)
}
