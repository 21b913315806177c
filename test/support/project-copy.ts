/** Copies the project to a temporary folder, so that a test can change its catalogue or code. */

import { execFileSync } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const PARTS = ['src', 'codegen', 'catalogue', 'schemas', 'docs', 'package.json']

export interface ProjectCopy {
  readonly main: string
  /** Replaces text in a file; throws if the file does not contain `from`. */
  edit(file: string, from: string, to: string): void
  /** Sets an entry's price in whole dong, and regenerates the catalogue's tables. */
  reprice(entryId: string, vnd: number): void
  remove(): void
}

export function copyProject(): ProjectCopy {
  const root = mkdtempSync(join(tmpdir(), 'gateway-project-'))
  for (const part of PARTS) cpSync(join(ROOT, part), join(root, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'))
  const edit = (file: string, from: string | RegExp, to: string) => {
    const path = join(root, file)
    const text = readFileSync(path, 'utf8')
    const changed = text.replace(from, to)
    if (changed === text) throw new Error(`${file} does not contain ${from}`)
    writeFileSync(path, changed)
  }
  return {
    main: join(root, 'src/start.js'),
    edit,
    reprice(entryId, vnd) {
      const entry = new RegExp(`(\\{ id: ${entryId.replaceAll('.', '\\.')},\\s+price: \\{ vnd: )\\d+`)
      const family = globSync('catalogue/families/*.yaml', { cwd: root }).find(file =>
        entry.test(readFileSync(join(root, file), 'utf8')),
      )
      if (family === undefined) throw new Error(`no family has the entry ${entryId}`)
      edit(family, entry, `$1${vnd}`)
      execFileSync(process.execPath, [join(root, 'codegen/main.ts'), 'generate'], { stdio: 'pipe' })
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  }
}
