/**
 * Replays the first requests of coding agents (recorded from their November 2026 versions, with texts shortened) and the tool
 * calls that follow. The sandbox answers as a model would, so that every agent reaches its final answer.
 */

import { readFileSync } from 'node:fs'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Sandbox } from '../../src/sandbox/server.ts'
import { PATHS, post, startTestSandbox } from './support.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startTestSandbox()
})
afterAll(() => sandbox.close())

type Format = 'messages' | 'chat' | 'responses'
interface Block {
  readonly [field: string]: unknown
}
interface Call {
  readonly name: string
  readonly input: unknown
}

/** An agent's recorded request body, with the user's request filled in and streaming turned off. */
function recorded(agent: string, request: string): Record<string, unknown> {
  const text = readFileSync(new URL(`agents/${agent}.json`, import.meta.url), 'utf8')
  const quoted = JSON.stringify(request).slice(1, -1)
  const asSent = agent === 'opencode' ? JSON.stringify(quoted).slice(1, -1) : quoted
  const { stream: _, stream_options: __, ...body } = JSON.parse(text.replace('{{request}}', () => asSent))
  return body
}

async function answer(format: Format, body: object): Promise<Block[]> {
  const response = await post(sandbox, PATHS[format], body)
  const reply = (await response.json()) as { content: Block[]; output: Block[]; choices: { message: Block }[] }
  expect(response.status, JSON.stringify(reply)).toBe(200)
  return format === 'messages' ? reply.content : format === 'responses' ? reply.output : [reply.choices[0]!.message]
}

function callsIn(blocks: readonly Block[]): Call[] {
  return blocks.flatMap(block => {
    if (block.type === 'tool_use') return [{ name: String(block.name), input: block.input }]
    if (block.type === 'function_call')
      return [{ name: String(block.name), input: JSON.parse(String(block.arguments)) }]
    if (block.type === 'custom_tool_call') return [{ name: String(block.name), input: block.input }]
    const calls = (block.tool_calls ?? []) as { function: { name: string; arguments: string } }[]
    return calls.map(call => ({ name: call.function.name, input: JSON.parse(call.function.arguments) }))
  })
}

function textIn(blocks: readonly Block[]): string {
  return blocks
    .flatMap(block => [block, ...(Array.isArray(block.content) ? (block.content as Block[]) : [])])
    .map(block => String(block.text ?? (typeof block.content === 'string' ? block.content : '')))
    .join('')
}

/** The agent's next request body: the previous one with the reply and the results of its tool calls appended. */
function nextBody(format: Format, body: Record<string, unknown>, blocks: readonly Block[], result: string): object {
  if (format === 'messages') {
    const results = blocks
      .filter(block => block.type === 'tool_use')
      .map(block => ({ type: 'tool_result', tool_use_id: block.id, content: result }))
    const reminder = { type: 'text', text: '<system-reminder>\nRun `date` before you go on.\n</system-reminder>' }
    const turns = [
      { role: 'assistant', content: blocks },
      { role: 'user', content: [...results, reminder] },
    ]
    return { ...body, messages: [...(body.messages as Block[]), ...turns] }
  }
  if (format === 'chat') {
    const calls = (blocks[0]!.tool_calls ?? []) as Block[]
    const results = calls.map(call => ({ role: 'tool', tool_call_id: call.id, content: result }))
    return { ...body, messages: [...(body.messages as Block[]), blocks[0], ...results] }
  }
  const outputs = blocks
    .filter(item => item.type !== 'reasoning')
    .map(item => ({ type: `${item.type}_output`, call_id: item.call_id, output: result }))
  return { ...body, input: [...(body.input as Block[]), ...blocks, ...outputs] }
}

const PATCH = '*** Begin Patch\n*** Add File: hello.txt\n+Hello, sandbox!\n*** End Patch'
const written = (path: string, text: string) => ({ [path]: '/home/user/project/hello.txt', [text]: 'Hello, sandbox!' })

const AGENTS: readonly { agent: string; format: Format; create: Call; run: Call; read: Call }[] = [
  {
    agent: 'claude-code',
    format: 'messages',
    create: { name: 'Write', input: written('file_path', 'content') },
    run: { name: 'Bash', input: { command: 'ls -a' } },
    read: { name: 'Read', input: { file_path: '/home/user/project/README.md' } },
  },
  {
    agent: 'codex',
    format: 'responses',
    create: { name: 'apply_patch', input: PATCH },
    run: { name: 'exec_command', input: { cmd: 'ls -a' } },
    read: { name: 'exec_command', input: { cmd: 'cat README.md' } },
  },
  {
    agent: 'qwen-code',
    format: 'chat',
    create: { name: 'write_file', input: written('file_path', 'content') },
    run: { name: 'run_shell_command', input: { command: 'ls -a' } },
    read: { name: 'read_file', input: { file_path: '/home/user/project/README.md' } },
  },
  {
    agent: 'opencode',
    format: 'chat',
    create: { name: 'write', input: written('filePath', 'content') },
    run: { name: 'bash', input: { command: 'ls -a' } },
    read: { name: 'read', input: { filePath: '/home/user/project/README.md' } },
  },
  {
    agent: 'cline',
    format: 'chat',
    create: { name: 'editor', input: written('path', 'new_text') },
    run: { name: 'run_commands', input: { commands: ['ls -a'] } },
    read: { name: 'read_files', input: { files: [{ path: '/home/user/project/README.md' }] } },
  },
  {
    agent: 'cline-vscode',
    format: 'chat',
    create: { name: 'write_to_file', input: { path: 'hello.txt', content: 'Hello, sandbox!' } },
    run: { name: 'execute_command', input: { command: 'ls -a', requires_approval: false } },
    read: { name: 'read_file', input: { path: 'README.md' } },
  },
]

describe.each(AGENTS)('$agent', ({ agent, format, create, run, read }) => {
  /** Cline accepts answers only through a tool. */
  const answersByTool = agent === 'cline-vscode'
  const asText = (blocks: readonly Block[]) => {
    const calls = callsIn(blocks)
    if (!answersByTool) {
      expect(calls).toEqual([])
      return textIn(blocks)
    }
    expect(calls).toEqual([{ name: 'attempt_completion', input: { result: expect.any(String) } }])
    return String((calls[0]!.input as { result: string }).result)
  }

  test.each([
    'What is 2+2?',
    'How do I create a file and run a command in bash?',
    'Summarise your task list, the goal, the workflow and the skill of a good agent team.',
    'Thủ đô của Việt Nam là gì?',
  ])('gets a text for %s', async request => {
    expect(asText(await answer(format, recorded(agent, request)))).toContain(request)
  })

  test.each([
    'Create a file hello.txt with the text Hello, sandbox!',
    'create a file called "hello.txt" with "Hello, sandbox!" in it, please',
    'Write "Hello, sandbox!" to hello.txt',
    'Tạo tệp hello.txt với nội dung "Hello, sandbox!"',
  ])('writes the file for %s', async request => {
    const blocks = await answer(format, recorded(agent, request))
    expect(callsIn(blocks)).toEqual([create])
    expect(textIn(blocks)).toBe('')
  })

  test.each(['run `ls -a`', 'Please run ls -a in this directory.', 'chạy lệnh `ls -a`'])(
    'runs the command for %s',
    async request => {
      expect(callsIn(await answer(format, recorded(agent, request)))).toEqual([run])
    },
  )

  test('reads a file', async () => {
    expect(callsIn(await answer(format, recorded(agent, 'What is in README.md?')))).toEqual([read])
  })

  test('ends its loop after one call, although the agent would continue', async () => {
    const body = recorded(agent, 'Run `ls -a` and tell me about the agent, the tasks and the files.')
    const first = await answer(format, body)
    expect(callsIn(first)).toEqual([run])
    const closing = asText(await answer(format, nextBody(format, body, first, 'README.md')))
    expect(closing).toContain('README.md')
  })
})

test('a free-form call streams in the form that the official client reads', async () => {
  const client = new OpenAI({ apiKey: 'any', baseURL: `${sandbox.url}/up/v1`, maxRetries: 0 })
  const body = recorded('codex', 'Create a file hello.txt with the text Hello, sandbox!')
  const stream = client.responses.stream(body as unknown as Parameters<typeof client.responses.stream>[0])
  let streamed = ''
  for await (const event of stream) if (event.type === 'response.custom_tool_call_input.delta') streamed += event.delta
  const response = await stream.finalResponse()
  const call = response.output.find(item => item.type === 'custom_tool_call')
  expect([streamed, call?.input]).toEqual([PATCH, PATCH])
})

test('prompt words in a reminder, which may come from a project, have no effect', async () => {
  const body = recorded('claude-code', 'Hello')
  const messages = body.messages as { content: { text: string }[] }[]
  messages[0]!.content[0]!.text = '<system-reminder>Write sandbox:error=500 to see a failure.</system-reminder>'
  expect(textIn(await answer('messages', body))).toContain('“Hello”')
})

test('an agent that must call a tool in each step gets its closing tool, rather than the same tool forever', async () => {
  const body = { ...recorded('cline-vscode', 'Run `ls -a`'), tool_choice: 'required' }
  const first = await answer('chat', body)
  expect(callsIn(first).map(call => call.name)).toEqual(['execute_command'])
  const second = await answer('chat', nextBody('chat', body, first, 'README.md'))
  expect(callsIn(second).map(call => call.name)).toEqual(['attempt_completion'])
  const question = await answer('chat', { ...recorded('cline-vscode', 'What is 2+2?'), tool_choice: 'required' })
  expect(callsIn(question).map(call => call.name)).toEqual(['attempt_completion'])
})

test('an agent that takes its structured output as the call of a further tool gets that call after the result of the others', async () => {
  const tool = (name: string, properties: object) => {
    const parameters = { type: 'object', properties, required: Object.keys(properties) }
    return { type: 'function', function: { name, description: '', parameters } }
  }
  const tools = [
    tool('weather', { city: { type: 'string' } }),
    tool('population', { city: { type: 'string' } }),
    tool('final_result', { name: { type: 'string' }, days: { type: 'integer' } }),
  ]
  const messages = [{ role: 'user', content: 'What is the weather in Hanoi?' }]
  const body = { model: 'thinker', messages, tools, tool_choice: 'required' }
  const first = await answer('chat', body)
  expect(callsIn(first).map(call => call.name)).toEqual(['weather'])
  const second = await answer('chat', nextBody('chat', body, first, 'sunny'))
  expect(callsIn(second)).toEqual([
    { name: 'final_result', input: { name: expect.any(String), days: expect.any(Number) } },
  ])
})
