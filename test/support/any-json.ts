/** Generates random JSON from the given keys and strings, to fuzz readers of request bodies. */

import fc from 'fast-check'

export function anyJson(key: fc.Arbitrary<string>, word: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const leaf = fc.oneof(word, fc.integer(), fc.boolean(), fc.constant(null))
  return fc.letrec(tie => ({
    node: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('node'), { maxLength: 3 }),
      fc.dictionary(key, tie('node'), { maxKeys: 5 }),
    ),
  })).node
}
