/** Compresses responses: picks a coding that the client accepts, and encodes with it. */

import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

export type Coding = 'br' | 'gzip'

const compressors = { br: promisify(brotliCompress), gzip: promisify(gzip) }

/** The best coding that an `accept-encoding` header allows; null if it allows none. */
export function chosenCoding(accepted: string | readonly string[] | undefined): Coding | null {
  const taken = String(accepted ?? '')
    .toLowerCase()
    .split(',')
    .filter(part => !/;\s*q=0(?:\.0*)?\s*$/.test(part))
    .map(part => (part.split(';')[0] as string).trim())
  return taken.includes('br') ? 'br' : taken.includes('gzip') ? 'gzip' : null
}

/** Compresses with `quality` from 0 (fastest) to 9 (smallest), a range that both codings support. */
export function compress(plain: Buffer | string, coding: Coding, { quality }: { quality: number }): Promise<Buffer> {
  return coding === 'br'
    ? compressors.br(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: quality } })
    : compressors.gzip(plain, { level: quality })
}
