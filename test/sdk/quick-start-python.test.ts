/**
 * Runs the Python snippets and `llm` commands from the quick start, the model pages and the playground exactly as shown. The
 * packages come from PyPI, so `make tools` runs these tests and `make test` leaves them out.
 */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '../../src/dashboard/assets/playground-code.js'
import { requestOf } from '../../src/dashboard/assets/playground-request.js'
import { unescaped, Visitor } from '../dashboard/visitor.ts'
import { COMMAND_LINE, chosenTools, type QuickStart, runTool, startQuickStart } from '../support/quick-start.ts'

/** The newest versions that these tests passed with. Each group is installed together. */
const PACKAGES = {
  python: ['openai==3.54.0', 'anthropic==2.12.0'],
  langchain: ['langchain-openai==1.7.3'],
  llamaindex: ['llama-index-llms-openai-like==0.8.1'],
  llm: ['llm==0.36'],
} as const
type PythonTool = keyof typeof PACKAGES
const MODELS = ['claude-opus-5', 'gpt-5.5', 'req/gpt-image-2', 'req/gpt-4o-mini-tts']
const chosen = chosenTools(Object.keys(PACKAGES)) as readonly PythonTool[]

let start: QuickStart
let home: string

describe.skipIf(chosen.length === 0)('in Python', { timeout: 600_000 }, () => {
  beforeAll(async () => {
    start = await startQuickStart()
    home = mkdtempSync(join(tmpdir(), 'quick-start-python-'))
    for (const tool of chosen) {
      const given = { folder: home, environment: process.env }
      await runTool('python3', ['-m', 'venv', tool], given)
      await runTool(join(home, tool, 'bin/pip'), ['install', '--quiet', ...PACKAGES[tool]], given)
    }
  }, 600_000)
  afterAll(async () => {
    rmSync(home, { recursive: true, force: true })
    await start.running.close()
  })

  const environmentOf = (tool: PythonTool) => ({ HOME: home, PATH: `${join(home, tool, 'bin')}:${process.env.PATH}` })
  const newFolder = () => mkdtempSync(join(home, 'run-'))
  /** Runs Python code; returns what it prints and the names of the files that it creates. */
  const python = async (
    code: string,
    { tool = 'python' as PythonTool, folder = newFolder() } = {},
  ): Promise<string> => {
    writeFileSync(join(folder, 'code.py'), code)
    const before = readdirSync(folder)
    const output = await runTool('python', ['code.py'], { folder, environment: environmentOf(tool) })
    const made = readdirSync(folder).filter(name => !before.includes(name))
    return output.trim() + made.join()
  }

  test.each(chosen.filter(tool => tool !== 'llm'))('the blocks of the quick start answer: %s', async tool => {
    const blocks = start.blocks.filter(block => block.tool === tool && block.label.startsWith('pip install '))
    expect(blocks.map(({ label }) => label.slice('pip install '.length))).toEqual(
      PACKAGES[tool].map(spec => spec.split('==')[0]),
    )
    for (const { label, code } of blocks) {
      expect([label, await python(code, { tool })]).toEqual([label, expect.stringMatching(/\S/)])
    }
  })

  test.skipIf(!chosen.includes('python'))(
    'the first calls on the pages of models answer, or write a file',
    async () => {
      const visitor = new Visitor(start.running.url)
      for (const id of MODELS) {
        const { html } = await visitor.get(`/models/${id}`)
        const programs = [...html.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)]
          .map(match => unescaped(match[1] as string))
          .filter(code => code.startsWith('from ') || code.startsWith('import base64'))
        expect([id, programs.length > 0]).toEqual([id, true])
        // All programs of a page share a folder, because a later one may read a file that an earlier one wrote.
        const folder = newFolder()
        for (const program of programs) {
          const code = program.replaceAll('$KEY', start.key)
          expect([id, program, await python(code, { folder })]).toEqual([id, program, expect.stringMatching(/\S/)])
        }
      }
    },
  )

  test.skipIf(!chosen.includes('python'))('the code of the playground answers', async () => {
    const turns = [{ role: 'user', text: 'Nói \'xin chào\' và \\n "$1"', pictures: [] }] as const
    const asked = [
      ...(['chat_completions', 'messages', 'responses'] as const).map(
        format => ({ kind: 'chat', model: 'gpt-5.5', format }) as const,
      ),
      { kind: 'image', model: 'req/gpt-image-2', format: 'chat_completions' },
      { kind: 'speech', model: 'req/gpt-4o-mini-tts', format: 'chat_completions' },
    ] as const
    for (const each of asked) {
      const request = requestOf({ system: 'Ngắn gọn', turns, parameters: {}, ...each })
      const code = codeOf('Python', request, start.running.url).replace('$KEY', start.key)
      expect([code, await python(code)]).toEqual([code, expect.stringMatching(/\S/)])
    }
  })

  test.skipIf(!chosen.includes('llm'))('llm answers with its file where its note says, and with its key', async () => {
    const blocks = start.blocks.filter(({ tool }) => tool === 'llm')
    const given = { folder: home, environment: environmentOf('llm') }
    const file = blocks.find(({ label }) => label !== COMMAND_LINE)
    const folder = (await runTool('sh', ['-c', 'dirname "$(llm logs path)"'], given)).trim()
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, file?.label as string), file?.code as string)
    expect(existsSync(dirname(folder))).toBe(true)
    const shell = blocks.find(({ label }) => label === COMMAND_LINE)?.code as string
    expect(await runTool('sh', ['-c', shell], given)).toMatch(/\S/)
  })
})
