/**
 * Styles, scripts and pictures: read at start-up, compressed on first request, named by content hash, cached by
 * browsers for a year.
 */

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Coding, chosenCoding, compress } from '../lib/content-coding.ts'

export interface Asset {
  /** The name that pages use, such as `app.css`. */
  readonly name: string
  /** The name with the content's hash, such as `app.3f2a91c04b7d.css`. */
  readonly fileName: string
  readonly contentType: string
  readonly plain: Buffer
  /** The compressed content, created on first request; null if compression gains nothing. */
  coded(coding: Coding): Promise<Buffer | null>
}

export interface Assets {
  /** Path of an asset by its plain name. Throws RangeError if there is no such asset. */
  path(name: string): string
  find(fileName: string): Asset | null
  readonly all: readonly Asset[]
}

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

const require = createRequire(import.meta.url)

/** Scripts from npm packages, served unchanged: asset name and file path of each. */
function packageFiles(): readonly (readonly [string, string])[] {
  const htmx = dirname(require.resolve('htmx.org/package.json'))
  const markdown = dirname(fileURLToPath(import.meta.resolve('streaming-markdown')))
  return [
    ['htmx.js', join(htmx, 'dist/htmx.min.js')],
    ['streaming-markdown.js', join(markdown, 'smd.min.js')],
  ]
}

export function loadAssets(folder: string): Assets {
  const own = readdirSync(folder)
    .filter(name => extname(name) in TYPES)
    .map(name => [name, join(folder, name)] as const)
  const files = new Map([...own, ...packageFiles()])
  const byName = new Map<string, Asset>()
  const make = (name: string): Asset => {
    const file = files.get(name)
    if (file === undefined) throw new RangeError(`there is no asset ${name}`)
    const known = byName.get(name) ?? createAsset(name, withHashedImports(readFileSync(file), make))
    byName.set(name, known)
    return known
  }
  const all = [...files.keys()].map(make)
  const byFileName = new Map(all.map(asset => [asset.fileName, asset]))
  return {
    all,
    find: fileName => byFileName.get(fileName) ?? null,
    path(name) {
      const asset = byName.get(name)
      if (asset === undefined) throw new RangeError(`there is no asset ${name}`)
      return `/assets/${asset.fileName}`
    },
  }
}

const IMPORT = /(\bfrom ')\.\/([\w-]+\.js)(?=')/g

/** Replaces the plain names in a module's imports with hashed names, because assets are only served under hashed names. */
function withHashedImports(plain: Buffer, assetOf: (name: string) => Asset): Buffer {
  const text = plain.toString()
  const hashed = text.replace(IMPORT, (_, from: string, name: string) => `${from}./${assetOf(name).fileName}`)
  return hashed === text ? plain : Buffer.from(hashed)
}

function createAsset(name: string, plain: Buffer): Asset {
  const extension = extname(name)
  const hash = createHash('sha256').update(plain).digest('hex').slice(0, 12)
  const made = new Map<Coding, Promise<Buffer | null>>()
  return {
    name,
    fileName: `${name.slice(0, -extension.length)}.${hash}${extension}`,
    contentType: TYPES[extension] as string,
    plain,
    coded(coding) {
      const known = made.get(coding) ?? shorter(plain, coding)
      made.set(coding, known)
      return known
    },
  }
}

async function shorter(plain: Buffer, coding: Coding): Promise<Buffer | null> {
  const coded = await compress(plain, coding, { quality: 9 })
  return coded.length < plain.length ? coded : null
}

/** Returns the asset in the best content coding that the client accepts, with the matching headers. */
export async function codedAsset(
  asset: Asset,
  acceptEncoding: string,
): Promise<{ body: Buffer; headers: Record<string, string> }> {
  const headers: Record<string, string> = {
    'content-type': asset.contentType,
    'cache-control': 'public, max-age=31536000, immutable',
    vary: 'accept-encoding',
  }
  const coding = chosenCoding(acceptEncoding)
  const body = coding === null ? null : await asset.coded(coding)
  if (coding === null || body === null) return { body: asset.plain, headers }
  return { body, headers: { ...headers, 'content-encoding': coding } }
}
