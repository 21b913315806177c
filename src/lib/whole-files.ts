/** Recognises files that were replaced, one by one, while a process loaded them. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** SHA-256 of the texts in the order of their names, in hex. */
export function digestOfFiles(files: readonly { readonly name: string; readonly text: string }[]): string {
  const hash = createHash('sha256')
  for (const { name, text } of files) hash.update(`${name} ${Buffer.byteLength(text)}\n${text}`)
  return hash.digest('hex')
}

/**
 * Throws if the files do not have this digest. Called by a module that is loaded before the files and replaced after them: if
 * they still have the digest that it was written with, this process has not loaded any of another version.
 */
export function requireWhole(
  folder: URL,
  { names, digest }: { readonly names: readonly string[]; digest: string },
): void {
  let found: string | null = null
  try {
    found = digestOfFiles(names.map(name => ({ name, text: readFileSync(new URL(name, folder), 'utf8') })))
  } catch {
    // A file is missing.
  }
  if (found === digest) return
  throw new Error(
    `The files in ${folder.pathname} do not belong together: they are being replaced, or were changed by hand. ` +
      'Run `make generate`, then start again',
  )
}
