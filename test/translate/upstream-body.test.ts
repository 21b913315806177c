/**
 * If the offsets of a body's members are known, the gateway parses the body only if a rule could change it. The result is the
 * same as without the offsets.
 */

import { expect, test, vi } from 'vitest'
import type { Rule, UpstreamTarget } from '../../src/generated/types.ts'
import { encodeText } from '../../src/lib/byte-text.ts'
import { membersOf } from '../../src/lib/json-text.ts'
import { bodyFor } from '../../src/pipeline/upstream-body.ts'

const RULES: readonly (readonly [name: string, rule: Rule])[] = [
  ['set', { op: 'set', path: '/seed', value: 7 }],
  ['set below', { op: 'set', path: '/a/b', value: 7 }],
  ['default', { op: 'default', path: '/seed', value: 7 }],
  ['drop', { op: 'drop', path: '/seed' }],
  ['drop below', { op: 'drop', path: '/tools/*/strict' }],
  ['drop anything', { op: 'drop', path: '/*/strict' }],
  ['drop an odd name', { op: 'drop', path: '/a~1b' }],
  ['move', { op: 'move', from: '/seed', to: '/other' }],
  ['clamp what an edit sets', { op: 'clamp', path: '/max_tokens', max: 5 }],
  ['map', { op: 'map', path: '/effort', values: { high: 'deep' } }],
  ['elsewhere', { op: 'set', path: '/seed', value: 7, endpoints: ['responses'] }],
  ['when', { op: 'drop', path: '/seed', when: { path: '/stream', exists: true } }],
]
const BODIES = [
  '{"model":"x","messages":[]}',
  '{"model":"x","seed":1.0,"effort":"high","stream":true}',
  '{"model":"x","tools":[{"strict":true}],"a":{"b":1,"strict":2}}',
  '{"model":"x","a/b":1,"se\\u0065d":2}',
]

test.each(RULES)('%s', async (_name, rule) => {
  const target = { model: 'y', rules: [rule] } as unknown as UpstreamTarget
  for (const text of BODIES.map(encodeText)) {
    const body = { text, requestedName: 'x' }
    for (const edits of [[], [{ op: 'set', path: '/max_tokens', value: 9 } as const]]) {
      const plain = await bodyFor(body, target, 'chat_completions', edits)
      const known = await bodyFor({ ...body, members: membersOf(text) }, target, 'chat_completions', edits)
      expect([text, JSON.parse(known.toString())]).toEqual([text, JSON.parse(plain.toString())])
    }
  }
})

test('a body without what a rule removes is not parsed', async () => {
  const target = { model: 'y', rules: [{ op: 'drop', path: '/seed' }] } as unknown as UpstreamTarget
  const bodyOf = (json: string) => {
    const text = encodeText(json)
    return { text, requestedName: 'x', members: membersOf(text) }
  }
  using parse = vi.spyOn(JSON, 'parse')
  await bodyFor(bodyOf('{"model":"x","messages":[]}'), target, 'chat_completions')
  expect(parse).not.toHaveBeenCalled()
  await bodyFor(bodyOf('{"model":"x","seed":1}'), target, 'chat_completions')
  expect(parse).toHaveBeenCalledOnce()
})
