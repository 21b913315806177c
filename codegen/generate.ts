/** Writes the generated files, or checks that the files on disk are up to date. */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Finding } from './findings.ts'
import { FILE_TYPES_FOLDER, GENERATED_FOLDER } from './project.ts'
import type { GeneratedFile } from './render.ts'

/** The file that names all other tables and their digest. */
const STAMP = `${GENERATED_FOLDER}/tables.ts`

/**
 * Writes the files that have changed, each atomically, and removes obsolete ones. The one with the digest of the tables comes
 * last, so that a gateway that starts meanwhile notices. Returns the paths touched.
 */
export function writeFiles(root: string, files: readonly GeneratedFile[]): string[] {
  const touched: string[] = []
  const isStamp = ({ path }: GeneratedFile): boolean => path === STAMP
  for (const { path, text } of [...files.filter(file => !isStamp(file)), ...files.filter(isStamp)]) {
    if (readText(root, path) === text) continue
    replaceFile(join(root, path), text)
    touched.push(path)
  }
  for (const path of obsoleteFiles(root, files)) {
    rmSync(join(root, path))
    touched.push(path)
  }
  return touched
}

/** Replaces the file atomically. */
export function replaceFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  const temporary = `${path}.${process.pid}.tmp`
  writeFileSync(temporary, text)
  renameSync(temporary, path)
}

/** Returns a finding for each file that does not match its sources. */
export function compareFiles(root: string, files: readonly GeneratedFile[]): Finding[] {
  const fix = 'run `make generate` and commit the result'
  const findings: Finding[] = []
  for (const { path, text } of files) {
    const found = readText(root, path)
    if (found === text) continue
    const place = { file: path, line: firstDifference(found ?? '', text), column: 1 }
    const message = found === undefined ? 'the file is missing' : 'the file does not match its sources'
    findings.push({ ...place, code: 'stale', message, fix })
  }
  for (const path of obsoleteFiles(root, files)) {
    findings.push({ file: path, line: 1, column: 1, code: 'stale', message: 'nothing generates this file', fix })
  }
  return findings
}

function readText(root: string, path: string): string | undefined {
  const full = join(root, path)
  return existsSync(full) ? readFileSync(full, 'utf8') : undefined
}

function obsoleteFiles(root: string, files: readonly GeneratedFile[]): string[] {
  const made = new Set(files.map(file => file.path))
  return [GENERATED_FOLDER, FILE_TYPES_FOLDER]
    .filter(folder => existsSync(join(root, folder)))
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => `${folder}/${name}`),
    )
    .map(path => path.replaceAll('\\', '/'))
    .filter(path => path.endsWith('.ts') && !made.has(path))
}

function firstDifference(found: string, wanted: string): number {
  const lines = found.split('\n')
  const index = wanted.split('\n').findIndex((line, at) => line !== lines[at])
  return Math.max(1, Math.min(index + 1, lines.length))
}
