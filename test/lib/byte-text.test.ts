/** Mixing text with strings that hold bytes is a compile error: `make check` fails if a line marked below compiles. */

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
  withoutWhiteSpace,
} from '../../src/lib/byte-text.ts'
import { parseJson } from '../../src/lib/json.ts'
import { asciiJson, editJson, membersOf } from '../../src/lib/json-text.ts'

const bytes = encodeText('Hà Nội')
const text: string = 'Hà Nội'.trim()

/** Never called, only type-checked. */
function refusedByTheCompiler(): unknown[] {
  // @ts-expect-error text is not bytes
  const fromText: ByteText = text
  // @ts-expect-error bytes are not text
  const fromBytes: string = bytes
  // @ts-expect-error bytes in a template would become text
  const inTemplate = `data: ${bytes}`
  // @ts-expect-error bytes joined to text with + would become text
  const added = bytes + text
  // @ts-expect-error bytes joined to bytes with +, too; `concat` keeps them bytes
  const both = bytes + bytes
  let grown = bytes
  // @ts-expect-error text cannot be appended to bytes
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
    // @ts-expect-error text has to be encoded before it is joined to bytes
    concat(bytes, text),
    // @ts-expect-error an editor of bytes takes no text
    editJson(text, []),
    // @ts-expect-error in text, offsets would count characters
    membersOf(text),
    // @ts-expect-error bytes have to be decoded before they are read as text
    parseJson(bytes),
    // @ts-expect-error bytes would be encoded as UTF-8 twice
    Buffer.from(bytes),
    // @ts-expect-error bytes cannot be searched for in text
    text.includes(bytes),
    // @ts-expect-error a pattern cannot search bytes
    /N/.test(bytes),
    // The last two lines are correct and compile.
    concat(bytes, ascii(': '), asciiJson(text), NO_BYTES),
    Buffer.concat([toBuffer(bytes)]),
  ]
}

void refusedByTheCompiler

test('text becomes bytes and text again unchanged', () => {
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

test.each([
  ['nothing', ''],
  ['no white space', 'QUJD'],
  ['white space everywhere', ' \t\n\v\f\rQ U\nJ\r\nD \0\x0e\x1f\x7f '],
  ['characters beyond ASCII', 'Q \u00a0U\u2003J\ufeffD é 漢 字'],
])('removes the white space that a regular expression finds from text with %s', (_, given) => {
  expect(withoutWhiteSpace(given)).toBe(given.replace(/\s+/g, ''))
})

test('every kind of white space is removed, and nothing else', () => {
  const all = `${Array.from({ length: 0xd800 }, (_, unit) => String.fromCharCode(unit)).join('')}\ue000\ufeff\uffff😀`
  expect(withoutWhiteSpace(all)).toBe(all.replace(/\s+/g, ''))
})
