/** Compressed answers: which coding the client accepts, and the compressed bytes. */

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'br' | 'gzip'

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The best coding that an `accept-encoding` header allows; null for none. */
export function chosenCoding(accepted: string | readonly string[] | undefined): Coding | null {
  const taken = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .filter(part => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map(part => (part.split(';')[0] as string).trim())
  return taken.includes('br') ? 'br' : taken.includes('gzip') ? 'gzip' : null
}

/** `quality` from 0 (fast) to 9 (small), in both codings. */
export function compress(plain: Buffer | string, coding: Coding, { quality }: { quality: number }): Promise<Buffer> {
  return coding === 'br'
    ? compressors.br(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
    : compressors.gzip(plain, { level: quality })
}
