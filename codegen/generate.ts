/** Writes the generated files, or compares them with what is there. */

import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from './findings.ts'
import type { GeneratedFile } from './render.ts'

/** Writes what differs, each file in one step, and removes files that are no longer made. Returns the names touched. */
export function writeFiles(directory: string, files: readonly GeneratedFile[]): string[] {
  mkdirSync(directory, { recursive: true })
  const touched: string[] = []
  for (const { name, text } of files) {
    if (readText(directory, name) === text) continue
    const temporary = join(directory, `.${name}.${process.pid}`)
    writeFileSync(temporary, text)
    renameSync(temporary, join(directory, name))
    touched.push(name)
  }
  for (const name of strangers(directory, files)) {
    rmSync(join(directory, name))
    touched.push(name)
  }
  return touched
}

/** One finding for each file that is not what the sources say now. */
export function compareFiles(directory: string, label: string, files: readonly GeneratedFile[]): Finding[] {
  const fix = 'run `make generate` and commit the result'
  const findings: Finding[] = []
  for (const { name, text } of files) {
    const found = readText(directory, name)
    if (found === text) continue
    const place = { file: `${label}/${name}`, line: firstDifference(found ?? '', text), column: 1 }
    const message = found === undefined ? 'the file is not there' : 'the file does not agree with its sources'
    findings.push({ ...place, code: 'stale', message, fix })
  }
  for (const name of strangers(directory, files)) {
    findings.push({
      file: `${label}/${name}`,
      line: 1,
      column: 1,
      code: 'stale',
      message: 'nothing makes this file',
      fix,
    })
  }
  return findings
}

function readText(directory: string, name: string): string | undefined {
  const path = join(directory, name)
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function strangers(directory: string, files: readonly GeneratedFile[]): string[] {
  if (!existsSync(directory)) return []
  const made = new Set(files.map(file => file.name))
  return readdirSync(directory).filter(name => name.endsWith('.ts') && !made.has(name))
}

function firstDifference(found: string, wanted: string): number {
  const lines = found.split('\n')
  const index = wanted.split('\n').findIndex((line, at) => line !== lines[at])
  return Math.max(1, Math.min(index + 1, lines.length))
}
