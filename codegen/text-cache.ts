/**
 * Caches code that slow libraries generate from the schemas (validators by Ajv, declarations by json-schema-to-typescript) in a
 * folder below node_modules. The cache key covers the input and the versions of all installed packages, so a cached text is
 * never stale; only the newest text of each name is kept. The command `check` bypasses the cache.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '..', 'node_modules')

export interface CachedText {
  /**
   * Path for the cached text, which may not have been written yet. Null if caching is off, because the installed versions are
   * unknown.
   */
  readonly path: string | null
  /** Returns undefined if there is no cached text. */
  read(): string | undefined
  /** Caches the text and deletes older ones with the same name. Does nothing in a read-only folder. */
  write(text: string): void
}

/**
 * Opens the cache for one text. `name` includes the file's extension; `input` is everything that the text depends on, apart from
 * the packages.
 */
export function cachedText(name: `${string}.${string}`, input: unknown, packages: string = PACKAGES): CachedText {
  const installed = readText(join(packages, '.package-lock.json'))
  if (installed === undefined) return { path: null, read: () => undefined, write() {} }
  const folder = join(packages, '.cache', 'catalogue')
  const key = createHash('sha256')
    .update(JSON.stringify([input, installed]))
    .digest('hex')
  const path = join(folder, `${key}-${name}`)
  return {
    path,
    read: () => readText(path),
    write(text) {
      try {
        mkdirSync(folder, { recursive: true })
        writeFileSync(`${path}.${process.pid}`, text)
        renameSync(`${path}.${process.pid}`, path)
        for (const other of readdirSync(folder)) {
          if (other.endsWith(`-${name}`) && join(folder, other) !== path) rmSync(join(folder, other), { force: true })
        }
      } catch {
        // The folder is read-only, so the next run will take as long as this one.
      }
    },
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
