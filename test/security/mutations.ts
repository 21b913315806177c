/** Random and mutated request bodies, reproducible by their seed. */

export type Random = () => number

/** Returns uniform random numbers in [0, 1), with 2³² states (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

function below(random: Random, count: number): number {
  return Math.floor(random() * count)
}

export function pick<Item>(random: Random, items: readonly Item[]): Item {
  return items[below(random, items.length)] as Item
}

/** JSON texts that trip up parsers, or code that reads their results. */
const HOSTILE_VALUES: readonly string[] = [
  'null',
  'true',
  '0',
  '-1',
  '1e400',
  '-1e400',
  '1e-400',
  '9007199254740993',
  `1${'0'.repeat(400)}`,
  '0.1',
  '""',
  '" "',
  '"\\u0000"',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\r\\nx: y"',
  '"😀\\u202e"',
  '"../../etc/passwd"',
  '"{{constructor}}"',
  '"\' or 1=1 --"',
  '"data:image/png;base64,"',
  '"data:;base64,////"',
  '"http://127.0.0.1:1/"',
  '"https://[::1]/a.png"',
  '"stream"',
  `"${'a'.repeat(5_000)}"`,
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '[{}]',
  '{"type":null}',
  '{"type":"text"}',
  '{"type":"text","text":null}',
  '{"type":"image_url","image_url":{"url":7}}',
  '{"type":"tool_result","content":{}}',
  '{"__proto__":{"stream":true}}',
  '{"constructor":{"prototype":{"model":"x"}}}',
  '{"toString":1,"valueOf":2,"hasOwnProperty":3,"then":4}',
  '{"":"","a":1,"a":2}',
  `${'['.repeat(400)}${']'.repeat(400)}`,
  `${'['.repeat(600)}${']'.repeat(600)}`,
  `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
]

const HOSTILE_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', 'model', 'stream', 'messages', '', 'a\u0000']

const WHOLE_BODIES: readonly string[] = [
  '',
  ' ',
  'null',
  '7',
  '"x"',
  '[]',
  '{}',
  '{',
  '}',
  '\ufeff{}',
  'NaN',
  "{'model':'x'}",
  '{"model":"x",}',
  '['.repeat(100_000),
  '{"a":'.repeat(100_000),
  `{"model":"claude-opus-5","messages":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
]

/** Returns a mutation of one of the valid bodies (which may happen to be valid), or a hostile body. */
export function mutatedBody(random: Random, good: readonly object[]): Buffer<ArrayBuffer> {
  const roll = random()
  if (roll < 0.05) return Buffer.from(pick(random, WHOLE_BODIES))
  if (roll < 0.1) return Buffer.from(Uint8Array.from({ length: below(random, 300) }, () => below(random, 256)))
  let text = JSON.stringify(pick(random, good))
  const changes = 1 + below(random, 4)
  for (let count = 0; count < changes; count++) text = changedValue(random, text)
  return random() < 0.2 ? damaged(random, text) : Buffer.from(text)
}

/** Replaces a value or key, or adds a member. Works on the text, because some of these bodies cannot be built as objects. */
function changedValue(random: Random, text: string): string {
  const values = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?=[,\]}])|-?\d+(?=[,\]}])|true|false|null|\[\]|\{\}/g)]
  const found = values[below(random, values.length)]
  if (found === undefined) return text
  const [start, end] = [found.index, found.index + found[0].length]
  const roll = random()
  if (roll < 0.7) return text.slice(0, start) + pick(random, HOSTILE_VALUES) + text.slice(end)
  const brace = text.lastIndexOf('{', start)
  const member = `${JSON.stringify(pick(random, HOSTILE_KEYS))}:${pick(random, HOSTILE_VALUES)}`
  if (roll < 0.9)
    return `${text.slice(0, brace + 1)}${member}${text[brace + 1] === '}' ? '' : ','}${text.slice(brace + 1)}`
  const keys = [...text.matchAll(/"([a-z_]+)":/g)]
  const key = keys[below(random, keys.length)]
  return key === undefined ? text : text.replace(key[0], `${JSON.stringify(pick(random, HOSTILE_KEYS))}:`)
}

/** The text truncated, or with some bytes replaced. */
function damaged(random: Random, text: string): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(text)
  if (random() < 0.4) return bytes.subarray(0, below(random, bytes.length))
  for (let count = 1 + below(random, 5); count > 0; count--) bytes[below(random, bytes.length)] = below(random, 256)
  return bytes
}
