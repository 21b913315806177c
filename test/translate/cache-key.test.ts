/** Calls of one session share a cache key, so that the provider's prompt cache hits. */

import { expect, test } from 'vitest'
import { translatorFor } from '../../src/translate/convert.ts'
import { contextOf } from './support.ts'

const SESSION = 'user_1f0c_account__session_0b7e5a52-7d0a-4a0e-9c0b-6c2d5f1f9a11'

function keyOf(session: string, text: string): unknown {
  const body = {
    model: 'm',
    max_tokens: 100,
    metadata: { user_id: session },
    messages: [{ role: 'user', content: text }],
  }
  return translatorFor('messages', 'responses')(body, contextOf({ upstream: 'chat_completions' })).upstreamBody
    .prompt_cache_key
}

test('a messages client’s session id becomes the cache key, hashed', () => {
  const key = keyOf(SESSION, 'First.')
  expect(key).toMatch(/^[0-9a-f]{64}$/)
  expect(keyOf(SESSION, 'Second.')).toBe(key)
  expect(keyOf(`${SESSION}2`, 'First.')).not.toBe(key)
})

test('without a user there is no key', () => {
  const body = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hi.' }] }
  const { upstreamBody } = translatorFor('messages', 'responses')(body, contextOf({ upstream: 'chat_completions' }))
  expect(upstreamBody).not.toHaveProperty('prompt_cache_key')
})
