/** Reads multipart forms (RFC 7578), with limits on their parts, and writes forms for upstreams. Needs no temporary files. */

import { Busboy, type BusboyInstance } from '@fastify/busboy'
import { inTurn } from './loop-turns.ts'

export interface FormFile {
  readonly field: string
  readonly bytes: Buffer
}

export interface Form {
  /** Text fields in the form's order; names may repeat. */
  readonly fields: readonly (readonly [name: string, value: string])[]
  readonly files: readonly FormFile[]
}

export interface FormLimits {
  readonly partsMax: number
  readonly fieldBytesMax: number
  readonly fileBytesMax: number
}

/** Longest name of a part, in characters. (Busboy has no such limit for multipart forms.) */
const NAME_LENGTH_MAX = 100

/** Bytes that are parsed in one turn of the event loop. */
const SLICE_BYTES = 32 * 1024
/** Of a slice with many parts, bytes that are parsed before the next look at whether the form is refused: they can take 10 ms. */
const STEP_BYTES = 1024
const MANY_PARTS = 8

/** Says what is wrong with a form, in words for the client. */
export class FormError extends Error {
  override readonly name = 'FormError'
}

export function isMultipart(contentType: string | undefined): boolean {
  return /^multipart\/form-data\s*(;|$)/i.test(contentType?.trim() ?? '')
}

/** Reads a whole form, in turns of the event loop. Rejects with FormError when it is damaged, truncated or beyond a limit. */
export function readForm(body: Buffer, contentType: string, limits: FormLimits): Promise<Form> {
  return new Promise((resolve, reject) => {
    const fields: [string, string][] = []
    const files: FormFile[] = []
    let isRefused = false
    const refuse = (reason: string) => {
      isRefused = true
      reject(new FormError(reason))
    }
    let parser: BusboyInstance
    try {
      parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: {
          parts: limits.partsMax,
          fieldSize: limits.fieldBytesMax,
          fileSize: limits.fileBytesMax,
          headerPairs: 20,
        },
      })
    } catch {
      refuse('the form has no boundary; let your HTTP library write its content-type')
      return
    }
    // Busboy passes undefined for a part without a name.
    const checkName = (name: string | undefined) => {
      if (!name) refuse('a part has no name')
      else if (name.length > NAME_LENGTH_MAX) refuse(`a part has a name of more than ${NAME_LENGTH_MAX} characters`)
    }
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      checkName(name)
      if (valueTruncated) refuse(`the field ${name} is longer than ${limits.fieldBytesMax} bytes`)
      fields.push([name, value])
    })
    parser.on('file', (field, stream) => {
      checkName(field)
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('limit', () => refuse(`the file ${field} is larger than ${limits.fileBytesMax} bytes`))
      stream.on('error', () => refuse('the form is damaged or cut off; send it again'))
      stream.on('end', () => files.push({ field, bytes: Buffer.concat(chunks) }))
    })
    parser.on('partsLimit', () => refuse(`the form has more than ${limits.partsMax} parts`))
    parser.on('error', () => refuse('the form is damaged or cut off; send it again'))
    parser.on('finish', () => resolve({ fields, files }))
    feed(parser, body, () => isRefused).catch(reject)
  })
}

/** Parses the body in many turns of the event loop, and no further than needed to refuse it: millions of parts fit into 20 MB. */
async function feed(parser: BusboyInstance, body: Buffer, isRefused: () => boolean): Promise<void> {
  for (let at = 0; at < body.length && !isRefused(); at += SLICE_BYTES) {
    const slice = body.subarray(at, at + SLICE_BYTES)
    await inTurn(() => feedSlice(parser, slice, isRefused))
  }
  if (!isRefused()) parser.end()
}

/** Resolves when the parser has taken the slice, or the form is refused. */
function feedSlice(parser: BusboyInstance, slice: Buffer, isRefused: () => boolean): Promise<void> {
  return new Promise(resolve => {
    const stepBytes = partsMaxIn(slice) > MANY_PARTS ? STEP_BYTES : SLICE_BYTES
    for (let at = 0; at < slice.length && !isRefused(); at += stepBytes) {
      const isLast = at + stepBytes >= slice.length
      parser.write(slice.subarray(at, at + stepBytes), isLast ? () => resolve() : () => {})
    }
    if (isRefused()) resolve()
  })
}

/** The most parts that can begin in the slice: each begins with a line of two dashes and the boundary. */
function partsMaxIn(slice: Buffer): number {
  let parts = 1
  for (let at = slice.indexOf('\n--'); at >= 0; at = slice.indexOf('\n--', at + 1)) parts++
  return parts
}

export interface FormPart {
  readonly name: string
  readonly value: string | { readonly bytes: Buffer; readonly filename: string; readonly contentType: string }
}

/** Writes a form; the platform does the escaping and picks the boundary. */
export async function writeForm(parts: readonly FormPart[]): Promise<{ body: Buffer; contentType: string }> {
  const form = new FormData()
  for (const { name, value } of parts) {
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([new Uint8Array(value.bytes)], { type: value.contentType }), value.filename)
  }
  const response = new Response(form)
  const contentType = response.headers.get('content-type') as string
  return { body: Buffer.from(await response.arrayBuffer()), contentType }
}
