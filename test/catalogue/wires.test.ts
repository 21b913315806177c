/** A model's wires (formats that its upstream accepts): their order, what each cannot express, and its dialect settings. */

import { expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'
import type { ModelEntry, UpstreamTarget } from '../../src/generated/types.ts'
import { compiler, withPassage } from './support.ts'

const FAMILY = `dialect:
  output: { cap_field: max_completion_tokens }`

const WIRES = `${FAMILY}
  reasoning: { beside_tools: refused }
wires:
  - wire: responses
    cannot: [stop_sequences, seed]
    dialect: { output: { cap_min: 16 }, reasoning: { beside_tools: accepted, sealed: true } }
  - wire: chat_completions
    cannot: [sealed_reasoning]
`

function targetsOf(id: string, wires: string, [passage, replacement] = ['', '']): readonly UpstreamTarget[] {
  const texts = withPassage('families/beta.yaml', `${FAMILY}\n`, wires).map(source =>
    source.path.endsWith('beta.yaml') && passage !== ''
      ? { ...source, text: source.text.replace(passage, replacement) }
      : source,
  )
  const { tables, findings } = compiler.compile(texts)
  if (tables === null) throw new Error(JSON.stringify(findings))
  return (tables.entries.find(entry => entry.id === id) as ModelEntry).upstreams
}

const MESSAGES_TOO = ['- { via: north, model: beta-1, standard: messages }', ''] as const

test('each wire has the target’s dialect with its own words on top', () => {
  const [target] = targetsOf('beta-2', WIRES, [...MESSAGES_TOO])
  expect(target?.wires?.map(({ wire, cannot }) => [wire, cannot])).toEqual([
    ['responses', ['stop_sequences', 'seed']],
    ['chat_completions', ['sealed_reasoning']],
  ])
  const [responses, chat] = target?.wires ?? []
  expect(responses?.dialect.output).toEqual({ ...target?.dialect.output, capMin: 16 })
  expect(responses?.dialect.reasoning).toMatchObject({ besideTools: 'accepted', sealed: true })
  expect(chat?.dialect).toEqual(target?.dialect)
  expect(target?.dialect.reasoning).toMatchObject({ besideTools: 'refused', sealed: false })
})

test('a model sets the order of wires and the words that differ, and keeps the rest of its family’s dialect', () => {
  const own = `capabilities: [tools, streaming]
    wires: [{ wire: chat_completions, cannot: [] }, { wire: responses, dialect: { output: { cap_min: 32 } } }]`
  const texts = withPassage('families/beta.yaml', `${FAMILY}\n`, WIRES).map(source => ({
    ...source,
    text: source.text.replace(MESSAGES_TOO[0], '').replace('capabilities: [tools, streaming]', own),
  }))
  const { tables } = compiler.compile(texts)
  const [target] = tables?.entries.find(({ id }) => id === 'beta-2')?.upstreams ?? []
  expect(target?.wires?.map(({ wire, cannot }) => [wire, cannot])).toEqual([
    ['chat_completions', []],
    ['responses', ['stop_sequences', 'seed']],
  ])
  expect(target?.wires?.[1]?.dialect).toMatchObject({ output: { capMin: 32 }, reasoning: { sealed: true } })
})

test('without wires a model speaks the format of its family', () => {
  expect(targetsOf('beta-2', `${FAMILY}\n  turns: { alternate: true }\n`)[0]?.wires).toBeUndefined()
})

test('in the shipped tables GPT speaks chat first, and accepts an effort beside tools on the responses wire', () => {
  const entries: readonly ModelEntry[] = TABLES.entries
  const wiresOf = (id: string) => entries.find(entry => entry.id === id)?.upstreams[0]?.wires
  for (const id of ['gpt-5.5', 'gpt-6-sol', 'req/gpt-5.2']) {
    const [chat, responses] = wiresOf(id) ?? []
    expect([chat?.wire, responses?.wire]).toEqual(['chat_completions', 'responses'])
    expect(responses?.dialect.reasoning).toMatchObject({ besideTools: 'accepted', sealed: true })
    expect(responses?.dialect.output.capMin).toBe(16)
    expect(chat?.dialect.reasoning.besideTools).not.toBe('accepted')
    expect(responses?.cannot).toContain('stop_sequences')
  }
  expect(wiresOf('gpt-6-sol')?.[1]?.dialect.reasoning.levels).toContain('max')
  expect(wiresOf('grok-4.3')?.[1]?.dialect.turns.systemRole).toBe('developer')
  expect(wiresOf('deepseek-v4-flash')?.[1]?.dialect.reasoning.field).toBe('item_content')
  // The AWS upstream has no path for the responses format.
  expect(wiresOf('svc/grok-4.3')).toBeUndefined()
})
