/**
 * Every dialect word (a key under `dialect` in the catalogue) takes effect with every upstream format, in same-format and
 * converted calls, wherever the table in docs/conversion.md says so.
 */

import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { MATRIX, reachOf, renderConversion, WIRES } from '../../codegen/dialect-matrix.ts'
import type { DialectFacts as Words } from '../../codegen/generated/types.ts'
import type { FormatPath, ReplyFacts } from '../../src/dialect/types.ts'
import { GatewayError } from '../../src/errors.ts'
import { DIALECT } from '../../src/generated/defaults.ts'
import { TABLES } from '../../src/generated/tables.ts'
import type { Capability, Dialect, ModelEntry, WireName } from '../../src/generated/types.ts'
import { isObject, type JsonObject, type JsonValue } from '../../src/lib/json.ts'
import { wiresOf } from '../../src/translate/choose-wire.ts'
import { convertRequest } from '../../src/translate/convert.ts'
import { planSameFormat } from '../../src/translate/same-format.ts'
import type { ChatFormat } from '../../src/translate/translator.ts'
import { contextOf, dialectOf } from '../translate/support.ts'
import type { Row, Seen } from './row-parts.ts'
import { ROWS } from './rows.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/**
 * Lists all dialect words, spelt as in the catalogue. Nested objects are groups of words. Empty ones are words themselves: maps
 * whose keys the operator chooses.
 */
function wordsOf(value: object, path = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]) => {
    const word = `${path}${snake(name)}`
    const isGroup = isObject(inner) && Object.keys(inner).length > 0
    return isGroup ? wordsOf(inner, `${word}.`) : [word]
  })
}

function settingOf(dialect: Dialect, word: string): JsonValue | undefined {
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return word.split('.').reduce<unknown>((value, name) => (value as JsonObject)[camel(name)], dialect) as JsonValue
}

/** Dialect words that are applied before or after the dialect pass, with the tests that cover them. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'output.choices_max': 'test/http/choices.test.ts',
  'turns.phase': 'test/formats/responses-write-request.test.ts',
  'turns.item_ids': 'test/formats/responses-write-request.test.ts',
  'reasoning.sealed': 'test/formats/responses-write-request.test.ts',
  'reasoning.refused_seal': 'test/http',
  'tools.left_out': 'test/http/dialect-words.test.ts',
  'tools.custom': 'test/formats/responses-write-request.test.ts',
  'usage.input': 'test/http/dialect-words.test.ts',
  'usage.output': 'test/http/dialect-words.test.ts',
  'usage.cached': 'test/http/dialect-words.test.ts',
  'usage.reasoning': 'test/http/dialect-words.test.ts',
  'usage.output_counts': 'test/http/dialect-words.test.ts',
}

const BASICS: Readonly<Record<WireName, object>> = {
  messages: { model: 'm', max_tokens: 30_000, messages: [{ role: 'user', content: 'hi' }] },
  chat_completions: { model: 'm', max_tokens: 30_000, messages: [{ role: 'user', content: 'hi' }] },
  responses: {
    model: 'm',
    max_output_tokens: 30_000,
    store: false,
    input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hi' }] }],
  },
}
const CAPABILITIES: readonly Capability[] = ['reasoning', 'vision', 'tools', 'streaming']

interface Adapted {
  readonly body: JsonObject
  readonly betas: readonly string[]
  readonly reply: ReplyFacts | null
}

/**
 * Runs the row's request, in the client's format, through the same-format or the converting path to this upstream format.
 * Returns what would be sent, or the refusal.
 */
function outcome(row: Row, client: WireName, wire: WireName, dialect: Dialect): Seen {
  const body = structuredClone({ ...BASICS[client], ...row.asks[client] }) as JsonObject
  const before = JSON.stringify(body)
  const entry = { outputTokensMax: 32_000, contextTokens: null, capabilities: row.capabilities ?? CAPABILITIES }
  const betas = row.betas ?? []
  const formatPath: FormatPath = client === wire ? 'same' : 'converted'
  const adapt = (): Adapted => {
    if (client === wire) return planSameFormat({ format: wire, body, entry, target: { dialect }, betas })
    const context = contextOf({ upstream: wire as ChatFormat, dialect, entry, betas })
    return convertRequest({ clientFormat: client, wire }, body, context)
  }
  const seen = { wire, formatPath, dialect }
  try {
    const { body: sent, betas: flags, reply } = adapt()
    return { ...seen, sent, text: JSON.stringify(sent), refusal: null, betas: flags, reply }
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error
    return { ...seen, sent: {}, text: '', refusal: error.message, betas: [], reply: null }
  } finally {
    expect(JSON.stringify(body), 'the client’s request stays as it was').toBe(before)
  }
}

/** The parts of an outcome that a dialect word can change. */
function visible({ text, refusal, betas, reply }: Seen): unknown {
  return { text, refusal, betas, reply: reply && { ...reply, names: reply.names !== null } }
}

/** Client formats in which the row's request, sent with this upstream format, must show the word's effect. */
function clientsOf(word: string, { asks, ownOnly = [] }: Row, wire: WireName): WireName[] {
  const reach = reachOf(word, wire)
  return WIRES.filter(client => {
    if (asks[client] === undefined || reach === null || reach === 'elsewhere') return false
    return client === wire ? reach !== 'converted' : reach !== 'own' && !ownOnly.includes(client)
  })
}

const isPerWire = (value: object): boolean => Object.keys(value).some(key => WIRES.includes(key as WireName))

function baseOf({ base = {} }: Row, wire: WireName): Words {
  return (isPerWire(base) ? (base as Record<string, Words>)[wire] : (base as Words)) ?? {}
}

function settingsOf({ set }: Row, wire: WireName): readonly Words[] {
  return Array.isArray(set) ? set : ((set as Record<string, readonly Words[]>)[wire] ?? [])
}

function together(base: Words, set: Words): Words {
  const merge = (one: object, other: object): object =>
    Object.fromEntries(
      [...new Set([...Object.keys(one), ...Object.keys(other)])].map(key => {
        const [a, b] = [(one as JsonObject)[key], (other as JsonObject)[key]]
        return [key, isObject(a) && isObject(b) ? merge(a, b) : key in other ? b : a]
      }),
    )
  return merge(base, set) as Words
}

const entries: readonly ModelEntry[] = TABLES.entries
/** Every distinct dialect in the catalogue, per upstream format, with an entry that uses it. */
const REAL = new Map<string, { readonly wire: WireName; readonly dialect: Dialect; readonly entry: string }>()
for (const entry of entries.filter(({ kind }) => kind === 'chat')) {
  for (const target of entry.upstreams) {
    for (const { wire, dialect } of wiresOf(target)) {
      REAL.set(`${wire} ${JSON.stringify(dialect)}`, { wire, dialect, entry: entry.id })
    }
  }
}

test('each word of the dialect is in the table, and has a row if the pass implements it', () => {
  const words = wordsOf(DIALECT)
  expect(Object.keys(MATRIX).sort()).toEqual(words.sort())
  const inPass = words.filter(word => MATRIX[word]?.some(reach => reach !== null && reach !== 'elsewhere'))
  expect(Object.keys(ROWS).sort()).toEqual(inPass.sort())
})

test('words that work outside the pass are tested in the files named for them', () => {
  const outside = Object.keys(MATRIX).filter(word => MATRIX[word]?.includes('elsewhere'))
  expect(Object.keys(ELSEWHERE).sort()).toEqual(outside.sort())
  for (const file of Object.values(ELSEWHERE)) expect(existsSync(`${ROOT}/${file}`), file).toBe(true)
})

test('docs/conversion.md has the current table', () => {
  expect(readFileSync(`${ROOT}/docs/conversion.md`, 'utf8')).toBe(renderConversion(ROOT))
})

describe.each(Object.entries(ROWS))('%s', (word, row) => {
  for (const wire of WIRES) {
    const settings = settingsOf(row, wire)
    for (const client of clientsOf(word, row, wire)) {
      const source = client === wire ? 'own format' : `from ${client}`
      test(`${wire}, ${source}: setting it changes the upstream body`, () => {
        expect(settings.length).toBeGreaterThan(0)
        const base = baseOf(row, wire)
        const plain = outcome(row, client, wire, dialectOf(base))
        row.check(plain)
        for (const set of settings) {
          const seen = outcome(row, client, wire, dialectOf(together(base, set)))
          row.check(seen)
          expect(visible(seen), JSON.stringify(set)).not.toEqual(visible(plain))
        }
      })

      const real = [...REAL.values()].filter(
        each =>
          each.wire === wire &&
          JSON.stringify(settingOf(each.dialect, word)) !== JSON.stringify(settingOf(DIALECT, word)),
      )
      if (real.length === 0) continue
      test(`${wire}, ${source}: works for every model that sets it`, () => {
        for (const { dialect, entry } of real) {
          try {
            row.check(outcome(row, client, wire, dialect))
          } catch (error) {
            throw new Error(`${entry}: ${(error as Error).message}`, { cause: error })
          }
        }
      })
    }
  }
})
