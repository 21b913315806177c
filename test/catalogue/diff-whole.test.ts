/** A diff misses no fact: every value of the tables, changed by itself, shows. */

import { expect, test } from 'vitest'
import { diffOf, tablesOf } from './diff-support.ts'
import { goodTexts, withFiles } from './support.ts'

/** What follows from other facts, or from the YAML as a whole. */
const DERIVED = ['kind', 'channel', 'modelName', 'aliases', 'digest']
/** The name of a header that only the scheme `header` has; no upstream here uses it. */
const UNUSED = ['auth.header']

const SETTINGS = (goodTexts().find(({ path }) => path.endsWith('catalogue.yaml'))?.text ?? '').replace(
  'defaults: {',
  'vendors: { south-ai: southern }\nvendor_names: { southern: South }\ndefaults: { fx: { from: 2026-01-01, vnd_per_usd: 25000 },',
)

/** A catalogue that uses as many keys as fit. */
const RICH = tablesOf(
  withFiles({
    'catalogue.yaml': SETTINGS,
    'families/beta.yaml': `family: beta
vendor: southern
api_standard: chat_completions
token_shares: { symbols: 0.5, capitals: 1.2, accents: 2 }
counting: { tool_instructions_tokens: 300 }
wires:
  - { wire: chat_completions }
  - { wire: responses, cannot: [top_k], dialect: { reasoning: { field: item_content } } }
rules: [{ op: drop, path: /user }]
models:
  - name: Beta 2
    context_tokens: 128000
    output_tokens_max: 16000
    capabilities: [tools, streaming]
    cost: { from: 2026-01-01, input: 0.1, output: 0.4 }
    released: 2026-01-15
    entries:
      - id: beta-2
        price: { vnd: 2000, per: mtok }
        deprecated: { since: 2026-06-01, retires: 2027-06-01, successor: beta-1 }
        upstream: [{ via: south, model: beta-2, weight: 2 }, { via: south, model: beta-2-eu, weight: 1 }]
      - { id: beta-1, price: { vnd: 2000, per: mtok }, upstream: { via: south, model: beta-1 } }
`,
  }),
)

type Path = readonly (string | number)[]

function* leavesOf(value: unknown, path: Path = []): Generator<Path> {
  if (value === null || typeof value !== 'object') return void (yield path)
  for (const [key, member] of Object.entries(value)) {
    yield* leavesOf(member, [...path, Array.isArray(value) ? Number(key) : key])
  }
}

/** Another value of the same form: dates stay dates, and amounts in text stay amounts. */
function other(value: unknown): unknown {
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  const digit = /[0-9]$/.exec(String(value))?.[0]
  return digit === undefined ? `${value}x` : `${value}`.slice(0, -1) + ((Number(digit) + 1) % 10)
}

/** The tables with the value at `path` changed. */
function changedAt(path: Path): typeof RICH {
  const copy = structuredClone(RICH) as object
  const holder = path.slice(0, -1).reduce((at, step) => Reflect.get(at, step) as object, copy)
  const last = path.at(-1) as string | number
  Reflect.set(holder, last, other(Reflect.get(holder, last)))
  return copy as typeof RICH
}

test('each fact of an entry, an upstream and the settings shows when it changes', () => {
  const hidden = [...leavesOf(RICH)].filter(path => {
    const known = path.map(String)
    if (DERIVED.some(word => known.includes(word)) || UNUSED.some(word => known.join('.').endsWith(word))) return false
    const { prices, added, removed, facts, extras, settings } = diffOf(changedAt(path), [], RICH)
    return [prices, added, removed, facts, extras, settings].every(part => part.length === 0)
  })
  expect(hidden.map(path => path.join('.'))).toEqual([])
})
