/**
 * What a library made of the same input in an earlier run, kept among the installed packages. The key covers the input
 * and every installed version, so it cannot be out of date; the newest per name stays. `check` does without.
 */

import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PACKAGES = join(import.meta.dirname, '..', 'node_modules')

export interface Kept {
  /** Where the text is or will be; null when the installed versions are unknown, and nothing is kept. */
  readonly path: string | null
  /** Undefined when there is none. */
  read(): string | undefined
  /** Replaces what was kept under the name. Does nothing where it cannot write. */
  write(text: string): void
}

/** `name` has the file's extension; `input` is everything that decides about the text but the packages. */
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
        // Read-only: the next run takes as long as this one.
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
