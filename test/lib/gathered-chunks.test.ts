import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredChunks } from '../../src/lib/gathered-chunks.ts'

test('gathers chunks of any length in order, and keeps nothing afterwards', () => {
  const size = fc.constantFrom(0, 1, 100, 8_191, 8_192, 70_000)
  fc.assert(
    fc.property(fc.array(size, { maxLength: 40 }), sizes => {
      const gathered = new GatheredChunks()
      const chunks = sizes.map((length, index) => Buffer.alloc(length, index))
      for (const chunk of chunks) gathered.add(chunk)
      expect(gathered.take().equals(Buffer.concat(chunks))).toBe(true)
      expect(gathered.take().length).toBe(0)
    }),
  )
})

test('a million chunks of one byte are a few objects in memory', () => {
  const gathered = new GatheredChunks()
  for (let index = 0; index < 1_000_000; index++) gathered.add(Buffer.of(index & 0xff))
  expect(gathered.length).toBeLessThan(40)
  expect(gathered.take().length).toBe(1_000_000)
})
