/**
 * Runs the real coding agents with their snippets from the quick start, verbatim. The agents are far larger than this project,
 * so `make tools` fetches and runs them, and `make test` leaves them out.
 */

import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Block,
  COMMAND_LINE,
  chosenTools,
  type QuickStart,
  runTool,
  startQuickStart,
} from '../support/quick-start.ts'

/** For each tool: its package, its command, and the arguments that make it answer once and exit. */
const AGENTS: Readonly<Record<string, readonly [spec: string, command: string, words: readonly string[]]>> = {
  'claude-code': ['@anthropic-ai/claude-code@2.1.330', 'claude', ['-p', 'What is 2+2?']],
  codex: ['@openai/codex@0.169.0', 'codex', ['exec', '--skip-git-repo-check', 'What is 2+2?']],
  opencode: ['opencode-ai@1.18.33', 'opencode', ['run', 'What is 2+2?']],
  'qwen-code': ['@qwen-code/qwen-code@0.24.4', 'qwen', ['-p', 'What is 2+2?']],
}
const chosen = chosenTools(Object.keys(AGENTS))

let start: QuickStart
let home: string

describe.skipIf(chosen.length === 0)('coding agents', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    start = await startQuickStart()
    home = mkdtempSync(join(tmpdir(), 'quick-start-agents-'))
  })
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true })
    await start.running.close()
  })

  test.each(chosen)('%s answers with its blocks as they stand, on the models that they name', async tool => {
    const [spec, command, words] = AGENTS[tool] as (typeof AGENTS)[string]
    const [packages, folder] = [join(home, `${tool}-packages`), join(home, tool)]
    for (const made of [packages, join(folder, 'bin')]) mkdirSync(made, { recursive: true })
    await runTool('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', packages, spec], {
      folder: packages,
      environment: process.env,
    })
    const program = join(packages, 'node_modules/.bin', command)
    expect(existsSync(program)).toBe(true)
    const quoted = words.map(word => `'${word}'`).join(' ')
    writeFileSync(join(folder, 'bin', command), `#!/bin/sh\nexec '${program}' ${quoted} < /dev/null\n`)
    chmodSync(join(folder, 'bin', command), 0o755)
    const blocks = start.blocks.filter(block => block.tool === tool)
    for (const { label, code } of blocks.filter(isFile)) {
      const file = label.startsWith('~/') ? join(folder, label.slice(2)) : join(folder, label)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, code)
    }
    const shell = blocks.find(({ label }) => label === COMMAND_LINE)?.code as string
    const { sql } = start.running.database
    const [before] = await sql`select coalesce(max(seq), 0)::text as seq from usage`
    const environment = { HOME: folder, PATH: `${join(folder, 'bin')}:${process.env.PATH}` }
    const output = await runTool('sh', ['-c', shell], { folder, environment })
    expect([tool, output]).toEqual([tool, expect.stringMatching(/\S/)])
    await start.running.gateway.readiness.idle()
    const calls = await sql`select entry_id, requested_name, status from usage where seq > ${before?.seq}::bigint`
    expect(calls.length).toBeGreaterThan(0)
    for (const { entry_id: entryId, requested_name: asked, status } of calls) {
      expect([tool, entryId, asked, status]).toEqual([tool, expect.any(String), null, 200])
      expect(blocks.some(({ code }) => code.includes(entryId))).toBe(true)
    }
  })
})

function isFile({ label }: Block): boolean {
  return label !== COMMAND_LINE
}
