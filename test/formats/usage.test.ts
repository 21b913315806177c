import { describe, expect, test } from 'vitest'
import { withoutImplausible } from '../../src/conversation/usage.ts'
import * as chat from '../../src/formats/chat/usage.ts'
import * as messages from '../../src/formats/messages/usage.ts'
import * as responses from '../../src/formats/responses/usage.ts'
import type { JsonObject, JsonValue } from '../../src/lib/json.ts'

const usage = (
  inputTokens: number,
  cachedInputTokens: number,
  cacheWriteTokens: number,
  outputTokens: number,
  reasoningTokens = 0,
) => ({
  inputTokens,
  cachedInputTokens,
  cacheWriteTokens,
  outputTokens,
  reasoningTokens,
})

describe('messages usage', () => {
  test.each<[string, JsonValue | undefined, ReturnType<typeof usage> | null]>([
    ['plain', { input_tokens: 10, output_tokens: 5 }, usage(10, 0, 0, 5)],
    [
      'cached tokens beside the input',
      { input_tokens: 10, cache_read_input_tokens: 100, cache_creation_input_tokens: 1000, output_tokens: 5 },
      usage(1110, 100, 1000, 5),
    ],
    [
      'cache writes by lifetime only',
      {
        input_tokens: 1,
        output_tokens: 1,
        cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 300 },
      },
      usage(321, 0, 320, 1),
    ],
    [
      'nulls',
      {
        input_tokens: 7,
        output_tokens: 3,
        cache_read_input_tokens: null,
        cache_creation: null,
        output_tokens_details: null,
      },
      usage(7, 0, 0, 3),
    ],
    [
      'thinking',
      { input_tokens: 7, output_tokens: 30, output_tokens_details: { thinking_tokens: 20 } },
      usage(7, 0, 0, 30, 20),
    ],
    [
      'garbage counts',
      { input_tokens: 'many', output_tokens: -4, cache_read_input_tokens: Number.POSITIVE_INFINITY },
      null,
    ],
    [
      'two passes, of which the top has only the first',
      {
        input_tokens: 10,
        output_tokens: 5,
        iterations: [
          { type: 'message', input_tokens: 10, output_tokens: 5 },
          { type: 'message', input_tokens: 20, output_tokens: 7 },
        ],
      },
      usage(30, 0, 0, 12),
    ],
    ['nothing', {}, null],
    ['null', null, null],
    ['absent', undefined, null],
    ['text', 'usage', null],
  ])('%s', (_, input, expected) => {
    expect(messages.readUsage(input)).toEqual(expected)
  })

  test('a stream overwrites counts with cumulative ones and keeps those that a later event omits', () => {
    const start = messages.mergeUsage(null, { input_tokens: 3, cache_read_input_tokens: 50, output_tokens: 1 })
    const middle = messages.mergeUsage(start, { output_tokens: 7, input_tokens: null })
    const end = messages.mergeUsage(middle, { output_tokens: 9, input_tokens: 4 })
    expect(messages.readUsage(end ?? undefined)).toEqual(usage(54, 50, 0, 9))
  })

  test('an input of zero from a relay that fills in zeros does not erase the input reported before', () => {
    const start = messages.mergeUsage(null, { input_tokens: 30, output_tokens: 1 })
    expect(messages.readUsage(messages.mergeUsage(start, { input_tokens: 0, output_tokens: 9 }) ?? undefined)).toEqual(
      usage(30, 0, 0, 9),
    )
    const moved = { input_tokens: 0, cache_read_input_tokens: 30, output_tokens: 9 }
    expect(messages.readUsage(messages.mergeUsage(start, moved) ?? undefined)).toEqual(usage(30, 30, 0, 9))
  })

  test('counts in unusual places take precedence over those in common places', () => {
    const meta = { in: 90, out: 7, hits: 40, thoughts: 5 }
    const facts = {
      input: ['/meta/in'],
      output: ['/meta/out'],
      cached: ['/nowhere', '/meta/hits'],
      reasoning: ['/meta/thoughts'],
    }
    expect(chat.readUsage({ meta }, facts)).toEqual(usage(90, 40, 0, 7, 5))
    expect(chat.readUsage({ meta }, { ...facts, outputCounts: 'without_reasoning' })).toEqual(usage(90, 40, 0, 12, 5))
    const standard = { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 10 } }
    expect(chat.readUsage({ meta, usage: standard }, facts)).toEqual(usage(90, 40, 0, 7, 5))
    expect(chat.readUsage({ usage: standard }, facts)).toEqual(usage(100, 10, 0, 9))
    expect(chat.readUsage({ meta: { in: 'many' } }, facts)).toBeNull()
  })

  test('what is written is read back', () => {
    const value = usage(1110, 100, 1000, 50, 20)
    expect(messages.readUsage(messages.writeUsage(value))).toEqual(value)
    expect(messages.writeUsage(value)).toMatchObject({ input_tokens: 10 })
  })
})

describe('chat usage', () => {
  test.each<[string, JsonValue | undefined, ReturnType<typeof usage> | null]>([
    ['plain', { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }, usage(10, 0, 0, 5)],
    [
      'details inside',
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
        completion_tokens_details: { reasoning_tokens: 40 },
      },
      usage(100, 60, 30, 50, 40),
    ],
    [
      'cache hits in a field of their own, details null',
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_cache_hit_tokens: 64,
        prompt_cache_miss_tokens: 36,
        prompt_tokens_details: null,
      },
      usage(100, 64, 0, 5),
    ],
    ['cached tokens at the top', { prompt_tokens: 100, completion_tokens: 5, cached_tokens: 64 }, usage(100, 64, 0, 5)],
    [
      'cache writes under the other format’s name',
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 90 },
      },
      usage(100, 0, 90, 5),
    ],
    [
      'reasoning left out of the completion',
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 115,
        completion_tokens_details: { reasoning_tokens: 100 },
      },
      usage(10, 0, 0, 105, 100),
    ],
    [
      'a total that is larger for no known reason',
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 115 },
      usage(10, 0, 0, 5),
    ],
    ['completion missing', { prompt_tokens: 10, total_tokens: 15 }, usage(10, 0, 0, 5)],
    ['prompt missing', { completion_tokens: 5, total_tokens: 15 }, usage(10, 0, 0, 5)],
    ['the other formats’ names', { input_tokens: 10, output_tokens: 5 }, usage(10, 0, 0, 5)],
    ['more cached than there is', { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 64 }, usage(10, 10, 0, 5)],
    [
      'more written to the cache than was not cached',
      { prompt_tokens: 10, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 64 } },
      usage(10, 4, 6, 5),
    ],
    [
      'more reasoning than output',
      { prompt_tokens: 10, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 64 } },
      usage(10, 0, 0, 5, 5),
    ],
    ['fractions', { prompt_tokens: 10.9, completion_tokens: 5.9, cached_tokens: 3.9 }, usage(10, 3, 0, 5)],
    ['a total below the prompt', { prompt_tokens: 10, total_tokens: 5 }, usage(10, 0, 0, 0)],
    ['garbage', { prompt_tokens: null, completion_tokens: Number.NaN }, null],
    ['null', null, null],
    ['absent', undefined, null],
  ])('%s', (_, input, expected) => {
    expect(chat.readUsage({ usage: input as JsonObject })).toEqual(expected)
  })

  test('the dialect can name the place of cached tokens, and completions that exclude reasoning', () => {
    const input = { prompt_tokens: 100, completion_tokens: 5, total_tokens: 165, cost: { cache: [{ hit: 7 }] } }
    const facts = { cached: ['/nowhere', '/usage/cost/cache/0/hit'], outputCounts: 'without_reasoning' } as const
    expect(chat.readUsage({ usage: input }, facts)).toEqual(usage(100, 7, 0, 65))
    // The total is wrong.
    expect(chat.readUsage({ usage: { ...input, total_tokens: 103 } }, facts)).toEqual(usage(100, 7, 0, 5))
  })

  test('counts in unusual places take precedence over those in common places', () => {
    const meta = { in: 90, out: 7, hits: 40, thoughts: 5 }
    const facts = {
      input: ['/meta/in'],
      output: ['/meta/out'],
      cached: ['/nowhere', '/meta/hits'],
      reasoning: ['/meta/thoughts'],
    }
    expect(chat.readUsage({ meta }, facts)).toEqual(usage(90, 40, 0, 7, 5))
    expect(chat.readUsage({ meta }, { ...facts, outputCounts: 'without_reasoning' })).toEqual(usage(90, 40, 0, 12, 5))
    const standard = { prompt_tokens: 100, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 10 } }
    expect(chat.readUsage({ meta, usage: standard }, facts)).toEqual(usage(90, 40, 0, 7, 5))
    expect(chat.readUsage({ usage: standard }, facts)).toEqual(usage(100, 10, 0, 9))
    expect(chat.readUsage({ meta: { in: 'many' } }, facts)).toBeNull()
  })

  test('what is written is read back', () => {
    const value = usage(1110, 100, 1000, 50, 20)
    expect(chat.readUsage({ usage: chat.writeUsage(value) })).toEqual(value)
    expect(chat.writeUsage(value)).toMatchObject({ prompt_tokens: 1110, total_tokens: 1160 })
  })
})

test('counts that cannot be true are as if they had not been reported, and so is a trusted zero', () => {
  const report = { state: 'final', usage: usage(11, 4, 3, 12, 2), hiddenOutputTokens: 1, zeroIsTrue: true } as const
  expect(withoutImplausible(report, 12)).toBe(report)
  const known = { state: 'final', hiddenOutputTokens: 0, zeroIsTrue: false }
  expect(withoutImplausible(report, 11)).toEqual({ ...known, usage: usage(11, 4, 3, 0, 0) })
  expect(withoutImplausible({ ...report, usage: usage(13, 4, 3, 12, 2) }, 12)).toEqual({
    ...known,
    usage: usage(0, 0, 0, 12, 2),
    hiddenOutputTokens: 1,
  })
})

// biome-ignore format: one case per line
test.each<[string, JsonObject, ReturnType<typeof usage> | null]>([
  ['input missing', { output_tokens: 5, total_tokens: 15 }, usage(10, 0, 0, 5)],
  ['output missing', { input_tokens: 10, total_tokens: 15 }, usage(10, 0, 0, 5)],
  ['a total below the input', { input_tokens: 10, total_tokens: 5 }, usage(10, 0, 0, 0)],
  ['more cached than there is', { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 64 } }, usage(10, 10, 0, 5)],
  ['more written to the cache than was not cached', { input_tokens: 10, output_tokens: 5, input_tokens_details: { cached_tokens: 4, cache_write_tokens: 64 } }, usage(10, 4, 6, 5)],
  ['more reasoning than output', { input_tokens: 10, output_tokens: 5, output_tokens_details: { reasoning_tokens: 64 } }, usage(10, 0, 0, 5, 5)],
  ['nothing', {}, null],
])('responses usage: %s', (_, input, expected) => {
  expect(responses.readUsage(input)).toEqual(expected)
})
