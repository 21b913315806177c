/**
 * Starts a gateway, signs up a customer who creates a key, and reads the code blocks of the page that the customer then sees.
 */

import { spawn } from 'node:child_process'
import { Visitor } from '../dashboard/visitor.ts'
import { startTestGateway, type TestGateway } from './gateway.ts'
import { freePort } from './program.ts'

export interface Block {
  readonly tool: string
  readonly label: string
  readonly code: string
}

export interface QuickStart {
  readonly running: TestGateway
  readonly key: string
  readonly blocks: readonly Block[]
}

/** The English label of the code blocks for a command line. */
export const COMMAND_LINE = 'Command line'

export async function startQuickStart(): Promise<QuickStart> {
  const port = String(await freePort())
  const running = await startTestGateway({ environment: { PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` } })
  const person = new Visitor(running.url)
  await person.signUp('new@example.com')
  await person.topUp('500.000')
  const { html } = await person.post('/keys', { label: 'first', submission: crypto.randomUUID() })
  return { running, key: /sk-svc-[\w-]+/.exec(html)?.[0] as string, blocks: blocksOf(html) }
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', quot: '"', lt: '<', gt: '>' }

function decoded(html: string): string {
  return html.replace(/&(?:#x([0-9A-F]+)|(\w+));/gi, (_, code, name) =>
    code === undefined ? (NAMED[name] as string) : String.fromCodePoint(Number.parseInt(code, 16)),
  )
}

function blocksOf(html: string): Block[] {
  return html.split('<section id="').flatMap(section => {
    const tool = section.slice(0, section.indexOf('"'))
    return [...section.matchAll(/<div class="code-head"><span>(.*?)<\/span>.*?<code>(.*?)<\/code><\/pre>/gs)].map(
      ([, label = '', code = '']) => ({ tool, label: decoded(label), code: decoded(code) }),
    )
  })
}

/** The tools selected by the variable TOOLS. `make tools` sets it; `make test` does not, so no tool is selected. */
export function chosenTools(known: readonly string[]): readonly string[] {
  const { TOOLS = '' } = process.env
  return TOOLS === 'all' ? known : TOOLS.split(',').filter(tool => known.includes(tool))
}

/** Runs a tool. Resolves with what it printed; rejects if it fails. */
export function runTool(
  command: string,
  words: readonly string[],
  { folder, environment }: { readonly folder: string; readonly environment: NodeJS.ProcessEnv },
): Promise<string> {
  const child = spawn(command, words, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] })
  let [output, errors] = ['', '']
  child.stdout.on('data', data => {
    output += data
  })
  child.stderr.on('data', data => {
    errors += data
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => {
      if (code === 0) resolve(output)
      else reject(new Error(`${command} ended with ${code}: ${(output + errors).slice(-2_000)}`))
    })
  })
}
