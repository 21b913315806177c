import { expect, test } from 'vitest'
import { formInWords } from '../../src/sandbox/task/form.ts'
import { readUserTurn, workingDirectory } from '../../src/sandbox/task/request.ts'
import { readTask } from '../../src/sandbox/task/task.ts'

test.each([
  ['run `git status`', { kind: 'run', command: 'git status' }],
  ['Run npm test and tell me what fails', { kind: 'run', command: 'npm test' }],
  ['Please execute this command: ls -la.', { kind: 'run', command: 'ls -la' }],
  ['Run this:\n```sh\ncd src\nls\n```', { kind: 'run', command: 'cd src\nls' }],
  ['List all files, please.', { kind: 'run', command: 'ls' }],
  ['Run the tests.', null],
  ['Create src/a.py containing print(1).', { kind: 'create', path: 'src/a.py', content: 'print(1)' }],
  ['make a file x.md:\n```md\n# Hi\n```', { kind: 'create', path: 'x.md', content: '# Hi\n' }],
  ['write hello to the file a.txt', { kind: 'create', path: 'a.txt', content: 'hello' }],
  ['Create a.txt with the text hi there and then run `ls`', { kind: 'create', path: 'a.txt', content: 'hi there' }],
  ['Create a.txt', { kind: 'create', path: 'a.txt', content: 'Written by a simulated model.\n' }],
  ['đọc tệp README.md', { kind: 'read', path: 'README.md' }],
  ['Write a poem about files.', null],
  ['How do I create a file a.txt?', null],
  ['What does `rm -rf /` do? Explain, do not run `rm`.', null],
  ['', null],
])('the task in %j', (request, task) => {
  expect(readTask(request)).toEqual(task)
})

test.each([
  [['<system-reminder>a <b>c</b></system-reminder>\nHello', 'World'], 'Hello\nWorld', 'World'],
  [['<environment_details>x</environment_details>'], '', ''],
  [['<task>\nDo it\n</task>', '# task_progress\n\nKeep a list.'], 'Do it\n# task_progress\n\nKeep a list.', 'Do it'],
  [['# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nRun `rm`.\n</INSTRUCTIONS>'], '', ''],
  [['"Say \\"hi\\"."'], 'Say "hi".', 'Say "hi".'],
  [['Hello', 'Available agent types for the Agent tool:\n- Plan: Run `rm`.\n\nMore.'], 'Hello', 'Hello'],
  [
    ['<instructions>Be kind.</instructions>'],
    '<instructions>Be kind.</instructions>',
    '<instructions>Be kind.</instructions>',
  ],
  [
    ['<system-reminder>never closed. Hello'],
    '<system-reminder>never closed. Hello',
    '<system-reminder>never closed. Hello',
  ],
])('what the user said in %j', (texts, userText, request) => {
  expect(readUserTurn(texts)).toEqual({ userText, request })
})

test.each([
  ['- Primary working directory: /home/a/b\n', '/home/a/b'],
  ['<cwd>/srv/x</cwd>', '/srv/x'],
  ["I'm currently working in the directory: /w", '/w'],
  ['# Current Working Directory (/home/a) Files', '/home/a'],
  ['Working Directory: C:\\code\\x', 'C:\\code\\x'],
  ['The working directory is where /commands are.', null],
])('the directory in %j', (text, directory) => {
  expect(workingDirectory(['', text])).toBe(directory)
})

const SCHEMA = { type: 'object', properties: { a: { const: '}{"' } }, required: ['a'] }
test.each([
  [`Reply with JSON valid against this schema:\n${JSON.stringify(SCHEMA)}`, { kind: 'schema', schema: SCHEMA }],
  [
    `The output must be JSON. Schema:\n\`\`\`json\n${JSON.stringify(SCHEMA, null, 2)}\n\`\`\``,
    { kind: 'schema', schema: SCHEMA },
  ],
  ['Reply with one JSON object and nothing else.', { kind: 'object' }],
  ['The database schema {users, orders} is old.', { kind: 'text' }],
  ['Reply with JSON. The schema: {"type": "object"', { kind: 'text' }],
])('the form in %j', (text, form) => {
  expect(formInWords({ kind: 'text' }, ['Be kind.', text, 'Hello'])).toEqual(form)
})
