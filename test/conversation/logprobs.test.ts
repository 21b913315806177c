import fc from 'fast-check'
import { expect, test } from 'vitest'
import { withoutLogprobs, withoutLogprobsInTurns } from '../../src/conversation/logprobs.ts'
import { byteText, decodeText, encodeText } from '../../src/lib/byte-text.ts'

const LONG = Array(5_000).fill({ token: '}]"\\', bytes: [1, 2], top_logprobs: [{ token: '{["' }] })
/** Values of a member with this name; those that are set aside are marked. */
const VALUES: readonly (readonly [value: unknown, isSetAside: boolean])[] = [
  [{ content: LONG, refusal: null }, true],
  [{ refusal: LONG, content: null }, true],
  [LONG, true],
  [{ content: [] }, false],
  [null, false],
  [{ other: LONG }, false],
  ['"logprobs":{"content":[', false],
]

test.each([
  ['at once', async (text: string) => withoutLogprobs(encodeText(text))],
  ['in turns', (text: string) => withoutLogprobsInTurns(encodeText(text))],
])('long log probabilities are set aside and put back, wherever they are, %s', async (_how, shorten) => {
  const value = fc.constantFrom(...VALUES)
  const space = fc.constantFrom(undefined, 1)
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 4 }), space, async (values, indent) => {
      const choices = values.map(([logprobs]) => ({ text: '\\"logprobs', tiếng: '"logprobs":', logprobs, index: 1 }))
      const text = JSON.stringify({ choices }, null, indent)
      const count = values.filter(([, isSetAside]) => isSetAside).length
      const short = await shorten(text)
      if (count === 0) {
        expect(short).toBeNull()
        return
      }
      const kept = JSON.parse(decodeText(short?.text ?? encodeText(''))) as { choices: object[] }
      const marks = kept.choices.filter((choice, index) => {
        return JSON.stringify(choice) !== JSON.stringify(choices[index])
      })
      expect(marks.length).toBe(count)
      expect(decodeText(short?.restore(short.text) ?? encodeText('')) === text).toBe(true)
      expect(short?.restore(encodeText('{"other":"format"}'))).toBe('{"other":"format"}')
    }),
    { numRuns: 30 },
  )
})

test('a text that ends within log probabilities stays as it is', () => {
  const text = `{"logprobs":${JSON.stringify(LONG)}`
  for (const end of [text.length - 1, text.length - 20, 100_000]) {
    expect(withoutLogprobs(byteText(Buffer.from(text.slice(0, end))))).toBeNull()
  }
})
