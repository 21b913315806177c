/** The compiler keeps bytes in a string and text apart, in both directions. `make check` compiles each line below. */

import { expect, test } from 'vitest'
import {
  ascii,
  type ByteText,
  byteText,
  concat,
  decodeText,
  encodeText,
  joinBytes,
  NO_BYTES,
  replaceOnce,
  toBuffer,
} from '../../src/lib/byte-text.ts'
import { parseJson } from '../../src/lib/json.ts'
import { asciiJson, editJson, membersOf } from '../../src/lib/json-text.ts'

const bytes = encodeText('Hà Nội')
const text: string = 'Hà Nội'.trim()

/** Never called: it only has to compile. */
function refusedByTheCompiler(): unknown[] {
  // @ts-expect-error text is not bytes
  const fromText: ByteText = text
  // @ts-expect-error bytes are not text
  const fromBytes: string = bytes
  // @ts-expect-error bytes in a template would become text
  const inTemplate = `data: ${bytes}`
  // @ts-expect-error the same with +
  const added = bytes + text
  // @ts-expect-error two of them too: `concat` keeps them bytes
  const both = bytes + bytes
  let grown = bytes
  // @ts-expect-error and text appended to bytes
  grown += text
  return [
    fromText,
    fromBytes,
    inTemplate,
    added,
    both,
    grown,
    // @ts-expect-error text may hold characters that are more than one byte
    bytes.indexOf(text),
    // @ts-expect-error a template may hold such text
    ascii(`data: ${text}`),
    // @ts-expect-error it has to be encoded first
    concat(bytes, text),
    // @ts-expect-error an editor of bytes takes no text
    editJson(text, []),
    // @ts-expect-error offsets would be of characters
    membersOf(text),
    // @ts-expect-error what is read as text has to be decoded first
    parseJson(bytes),
    // @ts-expect-error UTF-8 would be encoded twice
    Buffer.from(bytes),
    // @ts-expect-error nor does a text search in bytes
    text.includes(bytes),
    // @ts-expect-error nor a pattern
    /N/.test(bytes),
    // Both of these are as they should be.
    concat(bytes, ascii(': '), asciiJson(text), NO_BYTES),
    Buffer.concat([toBuffer(bytes)]),
  ]
}

void refusedByTheCompiler

test('text goes to bytes and back', () => {
  expect(decodeText(bytes)).toBe('Hà Nội')
  expect(bytes.length).toBe(Buffer.byteLength('Hà Nội'))
  expect(toBuffer(bytes).equals(Buffer.from('Hà Nội'))).toBe(true)
  expect(byteText(Buffer.from('Hà Nội'))).toBe(bytes)
  expect(byteText(Buffer.from('Hà Nội'), 4)).toBe(encodeText('Nội'))
})

test('puts bytes together and replaces some of them', () => {
  const comma = ascii(', ')
  expect(concat(bytes, comma, bytes)).toBe(encodeText('Hà Nội, Hà Nội'))
  expect(joinBytes([bytes, bytes], ',')).toBe(encodeText('Hà Nội,Hà Nội'))
  expect(replaceOnce(concat(bytes, bytes), encodeText('Nội'), encodeText('$&'))).toBe(encodeText('Hà $&Hà Nội'))
  expect(replaceOnce(bytes, comma, bytes)).toBe(bytes)
})
