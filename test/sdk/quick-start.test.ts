/**
 * Tests the code blocks of the quick start, with a new key. Blocks that need only packages of this project are run unchanged. Of
 * the other blocks, only the settings are checked. `make tools` runs the coding agents themselves.
 */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { GROUPS } from '../../src/dashboard/public/tools/index.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { TestGateway } from '../support/gateway.ts'
import { type Block, COMMAND_LINE, startQuickStart } from '../support/quick-start.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TOOLS = GROUPS.flatMap(([, tools]) => tools)

let running: TestGateway
let folder: string
let key: string
let blocks: readonly Block[]

beforeAll(async () => {
  ;({ running, key, blocks } = await startQuickStart())
  // A folder inside the project, so that the programs find its packages and run as modules.
  mkdirSync(join(ROOT, 'node_modules/.cache'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'node_modules/.cache/quick-start-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await running.close()
})

const ofTool = (tool: string): readonly Block[] => blocks.filter(block => block.tool === tool)
const shellOf = (tool: string): string => ofTool(tool).find(({ label }) => label === COMMAND_LINE)?.code ?? ''

function run(
  command: string,
  words: readonly string[],
): Promise<{ code: number | null; output: string; errors: string }> {
  const child = spawn(command, words, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors] = ['', '']
  child.stdout.on('data', data => {
    output += data
  })
  child.stderr.on('data', data => {
    errors += data
  })
  return new Promise(resolve => child.on('close', code => resolve({ code, output, errors })))
}

test('every tool is there, each block with the address and, where it is named, the key that was just made', () => {
  for (const { id, blocks: made } of TOOLS) expect([id, ofTool(id).length > 0]).toEqual([id, made !== undefined])
  expect(TOOLS.map(({ id }) => id)).toEqual(
    expect.arrayContaining([
      ...['claude-code', 'codex', 'cursor', 'cline', 'opencode', 'continue', 'kilo', 'qwen-code', 'aider', 'llm'],
      ...['ai-sdk', 'langchain', 'llamaindex', 'n8n', 'open-webui', 'curl'],
    ]),
  )
  for (const tool of new Set(blocks.map(block => block.tool))) {
    const all = ofTool(tool)
      .map(({ code }) => code)
      .join('\n')
    expect([tool, all.includes(key), all.includes(running.url), all.includes('$KEY')]).toEqual([
      tool,
      true,
      true,
      false,
    ])
  }
})

const isModule = ({ label }: Block): boolean => label.startsWith('npm install ')

test('the blocks in JavaScript run as they stand', async () => {
  const modules = blocks.filter(isModule)
  expect(modules.map(({ tool }) => tool)).toEqual(['typescript', 'typescript', 'ai-sdk', 'ai-sdk', 'langchain'])
  for (const [index, { label, code }] of modules.entries()) {
    const file = join(folder, `block-${index}.mjs`)
    writeFileSync(file, code)
    const { code: exit, output, errors } = await run(process.execPath, [file])
    expect([label, exit, errors.replace(/^.*Warning.*$/gm, '').trim()]).toEqual([label, 0, ''])
    expect([label, output.trim().length > 3]).toEqual([label, true])
  }
})

test('with the blocks of the AI SDK, a reply keeps to a schema', async () => {
  const asked = `prompt: 'Weather in Hanoi', output: Output.object({ schema: jsonSchema({ type: 'object',
    properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }) }),`
  const modules = ofTool('ai-sdk').filter(isModule)
  expect(modules).toHaveLength(2)
  for (const [index, { label, code }] of modules.entries()) {
    const file = join(folder, `schema-${index}.mjs`)
    const changed = code
      .replace('{ generateText }', '{ generateText, jsonSchema, Output }')
      .replace("prompt: 'Xin chào',", asked)
    expect(changed).toContain(asked)
    writeFileSync(file, changed)
    const { output } = await run(process.execPath, [file])
    expect([label, output]).toEqual([label, expect.stringMatching(/^\{"city":"[^"]+"\}\n$/)])
  }
})

const hasCurl = spawnSync('curl', ['--version']).status === 0

test.skipIf(!hasCurl && process.env.CI === undefined)('the blocks for curl run as they stand', async () => {
  const calls = ofTool('curl')
  expect(calls.map(({ label }) => label)).toEqual(['Messages', 'Chat Completions', 'Responses', 'Create an image'])
  for (const { label, code } of calls) {
    const { code: exit, output } = await run('sh', ['-c', code])
    const reply = JSON.parse(output) as Record<string, unknown>
    expect([
      label,
      exit,
      Object.keys(reply).some(name => ['content', 'choices', 'output', 'data'].includes(name)),
    ]).toEqual([label, 0, true])
  }
})

test('the files are of their format, and the commands can be read by a shell', () => {
  const formats: Readonly<Record<string, (code: string) => unknown>> = {
    json: code => JSON.parse(code),
    yaml: code => parseYaml(code),
    toml: code => {
      expect(code).toMatch(/^(?:(?:\w+ = "[^"\n]*"|\[[\w.]+\]|)(?:\n|$))+$/)
    },
  }
  let read = 0
  for (const { label, code } of blocks) {
    const format = formats[label.split('.').at(-1) as string]
    if (format === undefined) continue
    format(code)
    read++
  }
  expect(read).toBe(5)
  for (const { tool, label, code } of blocks.filter(({ label }) => label === COMMAND_LINE)) {
    expect([tool, label, spawnSync('sh', ['-n', '-c', code]).status]).toEqual([tool, label, 0])
  }
})

test('the coding agents are set to models of the price list that can use tools, and to a cheap one for small work', () => {
  const priceOf = (id: string | undefined) => {
    const entry = TABLES.entries.find(each => each.id === id)
    expect([id, entry?.kind, entry?.price.per, entry?.capabilities.includes('tools')]).toEqual([
      id,
      'chat',
      'mtok',
      true,
    ])
    return entry?.price.vnd as number
  }
  const variable = (name: string) => new RegExp(`^export ${name}=(.*)$`, 'm').exec(shellOf('claude-code'))?.[1]
  expect(variable('ANTHROPIC_BASE_URL')).toBe(running.url)
  expect(variable('ANTHROPIC_AUTH_TOKEN')).toBe(key)
  const lowest = Math.min(...TABLES.entries.filter(entry => entry.price.per === 'mtok').map(entry => entry.price.vnd))
  expect(priceOf(variable('ANTHROPIC_DEFAULT_HAIKU_MODEL'))).toBe(lowest)
  expect(priceOf(variable('ANTHROPIC_MODEL'))).toBeGreaterThan(0)

  const [config] = ofTool('codex')
  expect(config?.code).toContain(`base_url = "${running.url}/v1"\nenv_key = "GATEWAY_KEY"\nwire_api = "responses"`)
  priceOf(/^model = "(.*)"$/m.exec(config?.code ?? '')?.[1])

  const opencode = JSON.parse(ofTool('opencode')[0]?.code ?? '')
  const { gateway } = opencode.provider
  expect(gateway.options).toEqual({ baseURL: `${running.url}/v1`, apiKey: '{env:GATEWAY_KEY}' })
  for (const name of [opencode.model, opencode.small_model]) {
    expect(Object.keys(gateway.models)).toContain(name.slice('gateway/'.length))
  }
  expect(priceOf(opencode.small_model.slice('gateway/'.length))).toBe(lowest)

  const qwen = JSON.parse(ofTool('qwen-code')[0]?.code ?? '')
  expect(qwen.modelProviders.openai.map(({ id }: { id: string }) => id)).toContain(qwen.model.name)
  const continued = parseYaml(ofTool('continue')[0]?.code ?? '')
  expect(continued.models[0]).toMatchObject({ provider: 'openai', apiBase: `${running.url}/v1`, apiKey: key })
  const models = parseYaml(ofTool('llm')[0]?.code ?? '')
  expect(models[0]).toMatchObject({ api_base: `${running.url}/v1`, api_key_name: 'gateway' })
  expect(shellOf('llm')).toContain(`llm -m ${models[0].model_id} `)
})
