/**
 * Extras, which are features that providers charge for beyond tokens: which declaration in the catalogue takes precedence, how
 * a diff shows changes, and what the model list shows.
 */

import { expect, test } from 'vitest'
import { diffTables } from '../../codegen/diff/diff.ts'
import { effectOf } from '../../codegen/diff/extras.ts'
import { schemaDefaults } from '../../codegen/diff/facts.ts'
import { renderMarkdown } from '../../codegen/diff/markdown.ts'
import { modelItem } from '../../src/catalogue/model-item.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, Tables, ToolTreatment } from '../../src/generated/types.ts'
import { compiler, goodTexts, withFiles } from './support.ts'

const VOCABULARY = `extras:
  fields: { speed: { otherwise: leave_out, endpoints: [messages] }, fallbacks: { otherwise: refuse, endpoints: [messages] } }
  tools:
    web_search: { otherwise: leave_out, matches: [{ type: web_search* }], uses: [{ usage: /searches }] }
    mcp: { otherwise: refuse, matches: [{ type: mcp }] }
`

function textOf(name: string): string {
  return goodTexts().find(({ path }) => path.endsWith(name))?.text ?? ''
}

/** Compiles the valid test catalogue, with a vocabulary of extras and with each `text` inserted after its `anchor`. */
function tablesWith(...added: readonly [file: string, anchor: string, text: string][]): Tables {
  const files: Record<string, string> = { 'catalogue.yaml': textOf('catalogue.yaml') + VOCABULARY }
  for (const [file, anchor, text] of added) {
    const before = files[file] ?? textOf(file)
    expect(before).toContain(anchor)
    files[file] = before.replace(anchor, anchor + text)
  }
  const { tables, findings } = compiler.compile(withFiles(files))
  if (tables === null) throw new Error(JSON.stringify(findings))
  return tables
}

function extrasOf(tables: Tables, id: string) {
  return tables.entries.find(entry => entry.id === id)?.upstreams[0]?.extras
}

const AT_HOST = [
  'upstreams.yaml',
  'forward_headers: [north-beta]\n',
  '    extras: { tools: { web_search: refuse, mcp: allow } }\n',
] as const
const IN_MODEL = [
  'families/alpha.yaml',
  'released: 2026-01-15\n',
  '    extras: { tools: { web_search: allow } }\n',
] as const
const IN_ENTRY = [
  'families/alpha.yaml',
  'id: req/alpha-1,',
  ' extras: { tools: { web_search: { price: { vnd: 500, per: use } } } },',
] as const

test('extras that nothing else decides follow the vocabulary', () => {
  expect(extrasOf(tablesWith(), 'alpha-1')).toEqual({
    fields: { speed: 'leave_out', fallbacks: 'refuse' },
    tools: { web_search: 'leave_out', mcp: 'refuse' },
  })
})

test('family, model and entry overrule the upstream', () => {
  const tables = tablesWith([...AT_HOST], [...IN_MODEL], [...IN_ENTRY])
  expect(extrasOf(tablesWith([...AT_HOST]), 'alpha-1')?.tools).toEqual({ web_search: 'refuse', mcp: 'allow' })
  expect(extrasOf(tables, 'alpha-1')?.tools).toEqual({ web_search: 'allow', mcp: 'allow' })
  expect(extrasOf(tables, 'req/alpha-1')?.tools).toEqual({
    web_search: { price: { vnd: 500, per: 'use' } },
    mcp: 'allow',
  })
})

test('a diff shows what lets more pass and what costs more', () => {
  const defaults = schemaDefaults(compiler.schemas)
  const options = {
    today: '2026-11-21',
    thresholdPercent: 50,
    acknowledged: [],
    schemaDefaults: { old: defaults, now: defaults },
  }
  const diff = diffTables(tablesWith(), tablesWith([...AT_HOST], [...IN_ENTRY]), options)
  expect(diff.facts).toEqual([])
  const markdown = renderMarkdown(diff, 'main', 50)
  expect(markdown.slice(markdown.indexOf('### Extras'))).toBe(`### Extras

| entries | what | old | new | effect |
|---|---|---|---|---|
| \`alpha-1\`, \`req/alpha-1\`, \`svc/alpha-1\` | extras.mcp | refuse | allow | **passes at the plain price: the operator pays what the provider bills** |
| \`beta-1\` | extras.mcp (target 2) | refuse | allow | **passes at the plain price: the operator pays what the provider bills** |
| \`alpha-1\`, \`svc/alpha-1\` | extras.web_search | leave_out | refuse | the same or less passes |
| \`req/alpha-1\` | extras.web_search | leave_out | 500 VND per use | **passes and is sold**; **not acknowledged** |
| \`beta-1\` | extras.web_search (target 2) | leave_out | refuse | the same or less passes |
`)
})

test.each([
  ['500 VND per use', '625 VND per use', '+25.0 % per use'],
  ['500 VND per use', '250 VND per use', '−50.0 % per use'],
  ['500 VND per use', '500 VND per use, 9 held for', 'the hold changes'],
  ['500 VND per use', 'allow', '**passes at the plain price: the operator pays what the provider bills**'],
  ['allow', '500 VND per use', 'sold; used to pass at the plain price'],
  ['500 VND per use', 'leave_out', 'no longer passes'],
  ['–', 'leave_out', 'no longer passes'],
  ['leave_out', 'free: auto', '**more values pass**'],
  ['free: auto', 'free: auto, priority', '**more values pass**'],
  ['free: auto, flex', 'free: auto', 'the same or less passes'],
])('from %s to %s: %s', (old, now, effect) => {
  expect(effectOf({ old, new: now })).toBe(effect)
})

interface ServerTools {
  readonly description: string
  readonly capabilities: {
    readonly code_execution: { readonly supported: boolean }
    readonly server_tools: Readonly<Record<string, unknown>>
  }
}

function serverTools(id: string, tools: Readonly<Record<string, ToolTreatment>> = {}) {
  const entries: readonly ModelEntry[] = TABLES.entries
  const entry = entries.find(each => each.id === id) as ModelEntry
  const upstreams = entry.upstreams.map(target => {
    return { ...target, extras: { ...target.extras, tools: { ...target.extras.tools, ...tools } } }
  })
  const item = modelItem({ ...entry, upstreams }, { isDeprecated: false, isRetired: false }) as unknown as ServerTools
  const { supported, ...words } = item.capabilities.server_tools
  const passing = Object.entries(words).filter(([, tool]) => (tool as { supported: boolean }).supported)
  return { supported, passing: passing.map(([word]) => word), code: item.capabilities.code_execution.supported }
}

test('the model list names the provider-run tools that pass, and no others', () => {
  expect(serverTools('gpt-5.5')).toEqual({ supported: false, passing: [], code: false })
  expect(serverTools('svc/claude-opus-5')).toEqual({ supported: false, passing: [], code: false })
  expect(serverTools('claude-opus-5')).toEqual({ supported: true, passing: ['web_fetch'], code: false })
  const sold = { web_search: { price: { vnd: 500, per: 'use' } }, code_interpreter: 'allow' } as const
  const expected = { supported: true, passing: ['code_execution', 'web_search'], code: true }
  expect(serverTools('gpt-5.5', sold)).toEqual(expected)
})

test('the model list names the price of a use, which is the highest where upstreams differ', () => {
  const [entry] = tablesWith([...IN_ENTRY]).entries.filter(({ id }) => id === 'req/alpha-1')
  const [target] = entry?.upstreams ?? []
  if (entry === undefined || target === undefined) throw new Error('unreachable')
  const itemOf = (...prices: readonly number[]) => {
    const upstreams = prices.map(vnd => {
      const tools: Record<string, ToolTreatment> = { web_search: { price: { vnd, per: 'use' } }, web_fetch: 'allow' }
      return { ...target, extras: { ...target.extras, tools } }
    })
    return modelItem({ ...entry, upstreams }, { isDeprecated: false, isRetired: false }) as unknown as ServerTools
  }
  const { description, capabilities } = itemOf(500, 1200)
  expect(description).toMatch(/^900 VND per request, 1,200 VND per web_search\. /)
  expect(capabilities.server_tools).toMatchObject({
    web_search: { supported: true, price: { currency: 'VND', unit: 'use', amount: '1200' } },
    web_fetch: { supported: true },
    mcp: { supported: false },
  })
  expect(capabilities.server_tools.web_fetch).not.toHaveProperty('price')
})
