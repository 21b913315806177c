import { expect, test } from 'vitest'
import { inPageTurn, inTurn } from '../../src/lib/loop-turns.ts'

/** Longer than the budget of a turn, so that each piece has a turn of its own. */
function busy(): void {
  const endMs = performance.now() + 6
  while (performance.now() < endMs);
}

test('a call waits for one page before each of its pieces, however many pages wait', async () => {
  let shown = 0
  const pages = Array.from({ length: 40 }, () =>
    inPageTurn(() => {
      busy()
      shown++
    }),
  )
  for (let piece = 0; piece < 10; piece++) await inTurn(busy)
  expect(shown).toBeLessThanOrEqual(11)
  await Promise.all(pages)
  expect(shown).toBe(40)
})

test('a page waits for one piece of a call before it, however many calls wait', async () => {
  let done = 0
  const calls = Array.from({ length: 40 }, () =>
    inTurn(() => {
      busy()
      done++
    }),
  )
  for (let page = 0; page < 10; page++) await inPageTurn(busy)
  expect(done).toBeLessThanOrEqual(11)
  await Promise.all(calls)
  expect(done).toBe(40)
})

test('an error of the work rejects, and later work still runs', async () => {
  const failed = inPageTurn(() => {
    throw new Error('no page')
  })
  const later = inPageTurn(() => 'a page')
  await expect(failed).rejects.toThrow('no page')
  expect(await later).toBe('a page')
})
