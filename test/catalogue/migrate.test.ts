/** Dialect words (settings) of earlier versions are rewritten in place, and nothing else in the file changes. */

import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { formatFindings } from '../../codegen/findings.ts'
import { migrateText } from '../../codegen/migrate.ts'
import { useCommandProject } from './command-project.ts'
import { compiler, withFiles } from './support.ts'

const OLD = `# Above.
family: beta   # the second
vendor: southern
api_standard: chat_completions
dialect:
  # What the vendor says, read 2026-11.
  max_tokens_field: max_completion_tokens # the new name
  tool_id: word
  # Why it does not force tools.
  forced_tool_choice: no
  reasoning_tag: ''
  stop_max: 0

  # Reasoning.
  reasoning:
    parameter: none
    levels: []   # it knows none
    off: "no"
  reasoning_echo: if_present
  sampling: none_when_thinking
  usage_cached_paths:
    - /cost/cached
    - "/cost/hits"
  temperature_max: 1.50
  # The end.
rules:
  - { op: drop, path: /seed,   on: [chat_completions] } # unknown there
  - { op: set, path: /x, value: { dialect: { tool_id: word }, on: [1] } }
models:
  - name: Beta 2
    context_tokens: 128000
    output_tokens_max: 16000
    capabilities: [ tools, streaming ]
    dialect: { prefill: yes, user_field: none,   betas: [one-2026-01-01, 'two-2026-01-01'] }
    entries:
      - { id: beta-2, price: { vnd: 2000, per: mtok },   upstream: { via: south, model: beta-2, dialect: { structured_output: tool } } }
`

const NEW = `# Above.
family: beta   # the second
vendor: southern
api_standard: chat_completions
dialect:
  # What the vendor says, read 2026-11.
  output:
    cap_field: max_completion_tokens # the new name
  tools:
    call_id: word
    # Why it does not force tools.
    forced: refused

  # Reasoning.
  reasoning:
    tag: null
    parameter: null
    levels: null # it knows none
    disable: refused
    echo: if_present
  sampling: { stop_max: 0, parameters: all_unless_thinking, temperature_max: 1.50 }
  usage: { cached: [/usage/cost/cached, /usage/cost/hits] }
  # The end.
rules:
  - { op: drop, path: /seed,   endpoints: [chat_completions] } # unknown there
  - { op: set, path: /x, value: { dialect: { tool_id: word }, on: [1] } }
models:
  - name: Beta 2
    context_tokens: 128000
    output_tokens_max: 16000
    capabilities: [ tools, streaming ]
    dialect: { turns: { prefill: continue }, end_user: { field: null }, betas: { unlisted: drop, flags: { one-2026-01-01: {}, two-2026-01-01: {} } } }
    entries:
      - { id: beta-2, price: { vnd: 2000, per: mtok },   upstream: { via: south, model: beta-2, dialect: { structured_output: { method: tool } } } }
`

const migrated = (text: string) => migrateText({ path: 'beta.yaml', text })

test('words are rewritten, and comments, order and layout stay', () => {
  expect(migrated(OLD).text).toBe(NEW)
})

test('line ends of other systems stay, too', () => {
  expect(migrated(OLD.replaceAll('\n', '\r\n')).text).toBe(NEW.replaceAll('\n', '\r\n'))
})

test('a rewritten file is not rewritten again', () => {
  const again = migrated(migrated(OLD).text)
  expect([again.text, again.words]).toEqual([NEW, []])
})

test('the compiler names each old word of the old file, and none in the rewritten one', () => {
  const compiled = (text: string) => compiler.compile(withFiles({ 'families/beta.yaml': text })).findings
  const old = compiled(OLD).filter(({ code }) => code === 'old-word')
  expect(old.map(({ line }) => line)).toEqual(
    migrated(OLD)
      .words.map(({ line }) => line)
      .toSorted((a, b) => a - b),
  )
  expect(formatFindings(compiled(NEW), 'text')).not.toContain('old-word')
})

/** Every dialect word of earlier versions, with a value other than its default. */
const EVERY_WORD = `max_tokens_field: max_completion_tokens, max_tokens_default: 0, choices_max: 2, system_role: developer,
  mid_system: hoist, alternate_roles: true, text_content: string, sampling: none, temperature_max: 1, top_k: true, stop_max: 2,
  reasoning: { parameter: none, levels: [], on_by_default: true, off: no, display: true, budget_accepted: false,
  budget_field: none, stream_only: true, with_tools: absent, budgets: { low: 1024 }, budget_floors: { high: 9 } },
  reasoning_echo: always, reasoning_echo_placeholder: " ", reasoning_tag: think, reasoning_field: reasoning,
  forced_tool_choice: no, parallel_tool_calls: false, tool_name_max: 32, tool_name_start: letter, tool_id: word,
  tool_schema: no_meta_schema, tool_strict: drop, tool_result_images: native, server_tools: drop, structured_output: tool,
  image_url: inline, images_unsupported: placeholder, documents: reject, prefill: yes, cache_control: pass, betas: [a],
  effort_beta: b, usage_cached_paths: [/c], usage_output: total_less_prompt, user_field: none, user_max: 32,
  user_characters: word, stream_options: false, thought_signature_path: /d, thought_signature_placeholder: e, thread: true,
  on_unsupported: strip`

const IN_WORDS_OF_TODAY = {
  output: { cap_field: 'max_completion_tokens', choices_max: 2 },
  turns: { system_role: 'developer', mid_system: 'hoist', alternate: true, prefill: 'continue', threads: true },
  content: {
    text: 'string',
    image_url: 'inline',
    images_unsupported: 'placeholder',
    documents: 'reject',
    cache_control: 'pass',
  },
  sampling: { parameters: null, temperature_max: 1, top_k: true, stop_max: 2 },
  reasoning: {
    parameter: null,
    levels: null,
    by_default: true,
    disable: 'refused',
    display: 'on_request',
    budget_accepted: false,
    budget_field: null,
    stream_only: true,
    beside_tools: 'refused',
    budgets: { low: 1024 },
    budget_floors: { high: 9 },
    echo: 'always',
    echo_placeholder: ' ',
    tag: 'think',
    field: 'reasoning',
  },
  tools: {
    forced: 'refused',
    parallel_flag: false,
    name_max: 32,
    name_start: 'letter',
    call_id: 'word',
    schema: 'no_meta_schema',
    strict: 'drop',
    result_images: 'native',
    left_out: ['*'],
    signature: { path: '/d', placeholder: 'e' },
  },
  structured_output: { method: 'tool' },
  usage: { cached: ['/usage/c'], output_counts: 'without_reasoning', stream_options: false },
  end_user: { field: null, length_max: 32, characters: 'word' },
  betas: { unlisted: 'drop', flags: { a: {} }, effort: 'b' },
}

test.each([
  ['flow', `dialect: { ${EVERY_WORD} }\n`],
  ['block', stringify(parse(`dialect: { ${EVERY_WORD} }`))],
])('every old word has a new place (%s)', (_style, text) => {
  const { text: now, words } = migrated(text)
  expect(words.filter(({ successor }) => successor === null)).toEqual([])
  expect(parse(now)).toEqual({ dialect: IN_WORDS_OF_TODAY })
})

test('a word without a replacement stays for the operator to decide, as does one given in both its old and its new form', () => {
  const text = 'dialect: { max_tokens_default: 4096, tool_id: word, tools: { call_id: any }, on_unsupported: refuse }\n'
  const { text: now, words } = migrated(text)
  expect(now).toBe(text)
  expect(words.map(({ word, successor }) => [word, successor])).toEqual([
    ['max_tokens_default', null],
    ['tool_id', null],
    ['on_unsupported', null],
  ])
})

test.each([
  [
    'anchors stay with their values',
    'dialect:\n  stop_max: &s 4\n  prefill: &p no\n  reasoning: &r { off: no }\nmodels:\n  - dialect: { stop_max: *s, prefill: *p, reasoning: *r }\n',
    'dialect:\n  sampling: { stop_max: &s 4 }\n  turns: { prefill: &p unsupported }\n  reasoning: &r { disable: refused }\nmodels:\n  - dialect: { sampling: { stop_max: *s }, turns: { prefill: unsupported }, reasoning: *r }\n',
  ],
  [
    'a list that an alias repeats is rewritten too',
    'a: &b [one]\ndialect:\n  betas: *b\n',
    'a: &b [one]\ndialect:\n  betas: { unlisted: drop, flags: { one: {} } }\n',
  ],
  [
    'comments inside brackets stay',
    'dialect: {\n  # one\n  tool_id: word, # two\n  prefill: yes # three\n  # four\n}\n',
    'dialect: {\n           # four\n           # one\n           # two\n           tools: { call_id: word },\n           # three\n           turns: { prefill: continue },\n         }\n',
  ],
  [
    'comments in a list stay',
    'dialect:\n  stop_max: 1\n  usage_cached_paths:\n    # one\n    - /a # two\n  betas:\n    - b # three\n    - c\n',
    'dialect:\n  sampling: { stop_max: 1 }\n  # one\n  # two\n  usage: { cached: [/usage/a] }\n  # three\n  betas: { unlisted: drop, flags: { b: {}, c: {} } }\n',
  ],
  [
    'a comment after a removed word stays',
    'dialect:\n  # one\n  max_tokens_default: 0 # two\n  tool_id: word\n',
    'dialect:\n  # one\n  # two\n  tools: { call_id: word }\n',
  ],
  [
    'text on several lines stays one text',
    'dialect:\n  reasoning_echo_placeholder: |\n    a # b\n    c\n  tool_id: word\n',
    'dialect:\n  reasoning: { echo_placeholder: "a # b\\nc\\n" }\n  tools: { call_id: word }\n',
  ],
])('%s', (_what, text, now) => {
  expect(migrated(text)).toMatchObject({ text: now, findings: [] })
})

test.each([
  ['an alias for a word that now has another value', "dialect: { effort_beta: &e '', reasoning_field: *e }\n"],
  [
    'an alias of a group that another word moves into',
    'dialect:\n  reasoning: &r { off: no }\nmodels: [{ dialect: { reasoning: *r, reasoning_tag: a } }]\n',
  ],
])('a file is left alone if its anchors would change its meaning: %s', (_what, text) => {
  expect(migrated(text)).toMatchObject({ text, words: [], findings: [{ code: 'old-word', line: expect.any(Number) }] })
})

test('a file that is not YAML is left alone, and reported', () => {
  const text = 'dialect: { tool_id: word\n'
  expect(migrated(text)).toMatchObject({ text, words: [], findings: [{ code: 'yaml-syntax' }] })
})

const project = useCommandProject()
const { call } = project

const beta = () => project.path('catalogue/families/beta.yaml')
const BETA_OLD = readFileSync(join(import.meta.dirname, 'good/families/beta.yaml'), 'utf8').replace(
  'output: { cap_field: max_completion_tokens }',
  'max_tokens_field: max_completion_tokens',
)

test('migrate-words --check says what it would do, and migrate-words does it once', async () => {
  writeFileSync(beta(), BETA_OLD)
  const line = 'catalogue/families/beta.yaml:6:3: max_tokens_field → output.cap_field'
  expect(await call('migrate-words', '--check')).toEqual({
    status: 1,
    out: `${line}\nwould rewrite 1 word in 1 file`,
    err: '',
  })
  expect(readFileSync(beta(), 'utf8')).toBe(BETA_OLD)
  expect(await call('migrate-words')).toMatchObject({
    status: 0,
    out: `${line}\nrewrote 1 word in 1 file; run \`make generate\``,
  })
  expect(readFileSync(beta(), 'utf8')).toContain('  output: { cap_field: max_completion_tokens }\nmodels:')
  expect(await call('migrate-words', '--check')).toMatchObject({ status: 0, out: 'there are no old words' })
  expect(await call('migrate-words', '--json')).toMatchObject({
    status: 0,
    out: '{"words":[],"files":[],"written":true,"findings":[]}',
  })
})

test('migrate-words fails for a file that it could not read', async () => {
  writeFileSync(beta(), `${BETA_OLD}  broken: [\n`)
  expect(await call('migrate-words')).toEqual({
    status: 1,
    out: expect.stringMatching(
      /^catalogue\/families\/beta\.yaml:\d+:\d+: .*\[yaml-syntax]\nrewrote 0 words in 0 files/s,
    ),
    err: '',
  })
})

test('migrate-words fails if a word is left', async () => {
  writeFileSync(beta(), BETA_OLD.replace('dialect:\n', 'dialect:\n  on_unsupported: refuse\n'))
  expect(await call('migrate-words')).toMatchObject({
    status: 1,
    out: expect.stringContaining('on_unsupported → kept: has no replacement, decide what to do'),
  })
})

test('price-diff against a base with old words shows only real changes', async () => {
  const base = join(project.scratch, 'base')
  cpSync(project.root, base, { recursive: true })
  writeFileSync(join(base, 'catalogue/families/beta.yaml'), BETA_OLD)
  cpSync(join(import.meta.dirname, '../../schemas'), join(base, 'schemas'), { recursive: true })
  const schema = join(base, 'schemas/dialect.schema.json')
  const then = JSON.parse(readFileSync(schema, 'utf8'))
  then.properties = {
    max_tokens_field: { type: 'string', default: 'max_tokens' },
    stop_max: { type: 'integer', default: 4 },
  }
  writeFileSync(schema, JSON.stringify(then))
  writeFileSync(beta(), readFileSync(beta(), 'utf8').replace('dialect:\n', 'dialect:\n  sampling: { stop_max: 2 }\n'))
  const { status, out } = await call('price-diff', base)
  expect(status).toBe(0)
  expect(out.split('\n').filter(line => line.includes('dialect.'))).toEqual([
    expect.stringContaining('dialect.sampling.stop_max'),
    expect.stringContaining('dialect.sampling.stop_max'),
    expect.stringContaining('dialect.sampling.stop_max'),
  ])
})
