/** Gives each test of a file its own copy of the valid catalogue in `good/`, and runs commands of the catalogue's CLI on it. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, expect } from 'vitest'
import { run } from '../../codegen/run.ts'

interface Called {
  readonly status: number
  readonly out: string
  readonly err: string
}

const TODAY = '2026-11-21'

class CommandProject {
  /** Contains all copies; tests may write other files here, too. */
  readonly scratch = mkdtempSync(join(tmpdir(), 'catalogue-command-'))
  /** Today's date for the commands that `call` runs. */
  today = TODAY
  environment: Readonly<Record<string, string>> = {}
  #copies = 0

  /** The root folder of this test's copy. */
  get root(): string {
    return join(this.scratch, String(this.#copies))
  }

  renew(): void {
    this.#copies++
    this.today = TODAY
    this.environment = {}
    cpSync(join(import.meta.dirname, 'good'), this.path('catalogue'), { recursive: true })
  }

  path(...names: readonly string[]): string {
    return join(this.root, ...names)
  }

  call = async (...argv: readonly string[]): Promise<Called> => {
    const out: string[] = []
    const err: string[] = []
    const output = { out: (text: string) => out.push(text), err: (text: string) => err.push(text) }
    const status = await run(argv, output, { root: this.root, today: this.today, environment: this.environment })
    return { status, out: out.join('\n'), err: err.join('\n') }
  }

  read = (name: string): string => readFileSync(this.path('catalogue', name), 'utf8')

  /** Replaces a passage in a file of the catalogue. Fails if the file does not contain it. */
  replace = (name: string, passage: string, by: string): void => {
    expect(this.read(name)).toContain(passage)
    writeFileSync(this.path('catalogue', name), this.read(name).replace(passage, by))
  }
}

export function useCommandProject(): CommandProject {
  const project = new CommandProject()
  beforeEach(() => project.renew())
  afterAll(() => rmSync(project.scratch, { recursive: true, force: true }))
  return project
}
