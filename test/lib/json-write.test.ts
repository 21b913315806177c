/** Long texts are written in slices, with the same result as JSON.stringify. */

import { expect, test } from 'vitest'
import { writeJson } from '../../src/lib/json-write.ts'

test('writes what JSON.stringify writes, wherever a long text is cut', async () => {
  for (const part of ['"\n', 'ế', '😀', '\ud800']) {
    for (const shift of ['', 'x']) {
      const long = shift + part.repeat((1.2 * 1024 * 1024) / part.length)
      const value = { a: [long, { c: 'short' }], d: null, [part]: [1.5, true] }
      expect((await writeJson(value)).toString('utf8') === JSON.stringify(value)).toBe(true)
    }
  }
  expect((await writeJson({ a: ['x'] })).toString()).toBe('{"a":["x"]}')
})
