/** GatheredText joins pieces of text, each of which is plain or escaped as in JSON. */

import fc from 'fast-check'
import { expect, test } from 'vitest'
import { GatheredText } from '../../src/conversation/gathered-text.ts'
import { decodeText, encodeText } from '../../src/lib/byte-text.ts'

const FORMS = {
  plain: (gathered: GatheredText, text: string) => gathered.add(text),
  written: (gathered: GatheredText, text: string) => gathered.addWritten(encodeText(JSON.stringify(text).slice(1, -1))),
  escaped: (gathered: GatheredText, text: string) =>
    gathered.addWritten(
      encodeText(text.replace(/[\s\S]/g, unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)),
    ),
  slashed: (gathered: GatheredText) => gathered.addWritten(encodeText('\\/')),
}

const pieces = fc.array(
  fc.record({
    form: fc.constantFrom('plain', 'written', 'written', 'written', 'escaped', 'slashed'),
    text: fc.oneof(
      fc.string({ unit: 'binary', minLength: 1, maxLength: 4 }),
      fc.constantFrom('\ud83d', '\ude00', '"', '\\', '\\u0041', 'ộ'),
    ),
  }),
  { maxLength: 200 },
)

test('has the text of its pieces, and the JSON that JSON.stringify writes, wherever surrogate pairs are cut', () => {
  fc.assert(
    fc.property(pieces, given => {
      const [read, written] = [new GatheredText(), new GatheredText()]
      let whole = ''
      for (const { form, text } of given) {
        for (const gathered of [read, written]) FORMS[form](gathered, text)
        whole += form === 'slashed' ? '/' : text
      }
      expect(written.isEmpty).toBe(whole === '')
      expect(decodeText(written.json)).toBe(JSON.stringify(whole))
      expect(read.text).toBe(whole)
    }),
    { numRuns: 300 },
  )
})
