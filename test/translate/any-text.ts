/** Generators of random texts, names and calls. */

import fc from 'fast-check'

export const text = fc.oneof(fc.constantFrom('', ' ', '\n', 'hi', 'đồng 🙂', '```'), fc.string({ maxLength: 12 }))
export const solid = text.filter(value => value.trim() !== '')
const name: fc.Arbitrary<string> = fc.constantFrom('f', 'g', 'ns.tool', `long_${'x'.repeat(80)}`)
export const json = fc.dictionary(fc.string({ maxLength: 5 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
const callId = fc.oneof(fc.constantFrom('call_0', 'functions.f:0', ''), fc.stringMatching(/^call_[a-z0-9]{1,70}$/))
export const calls = fc.array(fc.record({ id: callId, name, input: json, output: text }), {
  minLength: 1,
  maxLength: 3,
})

export function chatCall(call: { id: string; name: string; input: object }) {
  return { id: call.id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.input) } }
}
