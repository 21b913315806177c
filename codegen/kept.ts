/**
 * Caches what a library produced from the same input in an earlier run, in a folder below node_modules. The key covers the input
 * and every installed version, so a cached text is never out of date; only the newest text of each name is kept. `check` does not
 * use the cache.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '..', 'node_modules')

export interface Kept {
  /**
   * Path of the cached text, whether or not it exists yet; null if nothing is cached, because the installed versions are unknown.
   */
  readonly path: string | null
  /** Returns the cached text; undefined if there is none. */
  read(): string | undefined
  /** Replaces the text cached under the name. Does nothing in a read-only folder. */
  write(text: string): void
}

/**
 * Opens the cache for one text. `name` includes the file's extension; `input` is everything that the text depends on, apart from
 * the packages.
 */
export function keptFor(name: `${string}.${string}`, input: unknown, packages: string = PACKAGES): Kept {
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
        // In a read-only folder, nothing is cached: the next run takes as long as this one.
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
