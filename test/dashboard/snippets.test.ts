/** Sample calls work as they stand: on model pages once `$KEY` is replaced with a key, and beside a new key. */

import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { catalogue } from '../../src/catalogue/current.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { readable, unescaped, Visitor } from './visitor.ts'

const MODELS = ['claude-opus-5', 'gpt-5.5', 'req/gpt-image-2', 'req/gpt-4o-mini-tts']

let running: TestGateway
let visitor: Visitor
let apiKey: string
beforeAll(async () => {
  running = await startTestGateway()
  visitor = new Visitor(running.url)
  apiKey = (await running.account(10_000_000_000n)).apiKey
})
afterAll(() => running.close())

/** The code blocks on a model's page. */
async function blocks(id: string): Promise<string[]> {
  const { html } = await visitor.get(`/models/${id}`)
  return [...html.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(match => unescaped(match[1] as string))
}

test('the commands work in every format that serves the model', async () => {
  for (const id of MODELS) {
    const commands = (await blocks(id)).filter(each => each.startsWith('curl ') && each.includes("-d '"))
    expect(commands.length).toBeGreaterThan(0)
    for (const command of commands) {
      const path = /http:\/\/gateway\.test(\S+)/.exec(command)?.[1]
      const body = /-d '([\s\S]*?)'/.exec(command)?.[1] as string
      const headers = Object.fromEntries(
        [...command.matchAll(/-H "([^:]+): ([^"]+)"/g)].map(([, name, value]) => [
          name,
          value?.replace('$KEY', apiKey),
        ]),
      ) as Record<string, string>
      const { status } = await fetch(running.url + path, { method: 'POST', headers, body })
      expect([id, path, status]).toEqual([id, path, 200])
    }
  }
})

test('the programs run with the vendors’ own packages, and write the files that they name', {
  timeout: 120_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'snippets-'))
  try {
    symlinkSync(join(import.meta.dirname, '../../node_modules'), join(folder, 'node_modules'))
    for (const id of MODELS) {
      const programs = (await blocks(id)).filter(each => /^import .* from '/m.test(each))
      expect(programs.length).toBeGreaterThan(0)
      for (const program of programs) {
        const code = program.replaceAll('http://gateway.test', running.url).replaceAll('$KEY', apiKey)
        const { stdout } = await promisify(execFile)(
          process.execPath,
          ['--input-type=module-typescript', '--eval', code],
          { cwd: folder, timeout: 60_000 },
        )
        const prints = program.includes('console.log')
        expect([id, program, stdout.trim() !== '']).toEqual([id, program, prints])
      }
    }
    expect(readdirSync(folder).sort()).toEqual(['edited.png', 'hello.mp3', 'lotus.png', 'node_modules'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})

test('the snippets of a new key name only models that it may call', async () => {
  const person = new Visitor(running.url)
  await person.signUp('narrow@example.com')
  await person.topUp('50.000')
  const chosen = ['gpt-5.5', 'svc/claude-haiku-4-5']
  const form = { label: 'narrow', models: chosen.join('\n'), submission: crypto.randomUUID() }
  const { html } = await person.post('/keys', form)
  expect(readable(html)).toContain('This key may only call: gpt-5.5, svc/claude-haiku-4-5.')
  const code = [...html.matchAll(/<pre[^>]*><code>([\s\S]*?)<\/code>/g)].map(([, text]) => text).join('\n')
  const named = catalogue.items
    .map(({ entry }) => entry.id)
    .filter(id => new RegExp(`[^\\w/.-]${id}[^\\w/.-]`).test(code))
  expect(named).toEqual(['gpt-5.5'])
  const { path } = await person.createKey('wide')
  expect(readable((await person.post(`${path}/rotate`, { rotations: '0' })).html)).not.toContain('may only call')
})
