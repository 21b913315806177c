import { Busboy } from '@fastify/busboy'
import fastCheck from 'fast-check'
import { expect, test, vi } from 'vitest'
import { type FormPart, isMultipart, readForm, writeForm } from '../../src/lib/multipart.ts'

const LIMITS = { partsMax: 64, fieldBytesMax: 10_000, fileBytesMax: 10_000 }
const name = fastCheck.stringMatching(/^[a-z_]{1,12}(\[\])?$/)
const field = fastCheck.record({ name, value: fastCheck.string({ unit: 'binary', maxLength: 60 }) })
const file = fastCheck.record({
  name,
  value: fastCheck.record({
    bytes: fastCheck.uint8Array({ maxLength: 300 }).map(bytes => Buffer.from(bytes)),
    filename: fastCheck.constantFrom('a.png', 'ảnh "đẹp".png', 'a\r\nb.png'),
    contentType: fastCheck.constant('image/png'),
  }),
})

/** Normalises line breaks to CRLF, as form submission does. */
const asSent = (text: string) => text.toWellFormed().replace(/\r\n|\r|\n/g, '\r\n')

test('reads every form that it writes', async () => {
  await fastCheck.assert(
    fastCheck.asyncProperty(
      fastCheck.array(fastCheck.oneof(field, file), { minLength: 1, maxLength: 8 }),
      async parts => {
        const { body, contentType } = await writeForm(parts as FormPart[])
        expect(isMultipart(contentType)).toBe(true)
        const form = await readForm(body, contentType, LIMITS)
        const texts = parts.flatMap(part => (typeof part.value === 'string' ? [[part.name, asSent(part.value)]] : []))
        const files = parts.flatMap(part =>
          typeof part.value === 'string' ? [] : [[part.name, part.value.bytes.toString('hex')]],
        )
        expect(form.fields).toEqual(texts)
        expect(form.files.map(each => [each.field, each.bytes.toString('hex')])).toEqual(files)
      },
    ),
    { numRuns: 60 },
  )
})

test('refuses a form that exceeds a limit, and says which one', async () => {
  const { body, contentType } = await writeForm([
    { name: 'text', value: 'x'.repeat(50) },
    { name: 'image', value: { bytes: Buffer.alloc(50), filename: 'a', contentType: 'image/png' } },
  ])
  const read = (limits: Partial<typeof LIMITS>) => readForm(body, contentType, { ...LIMITS, ...limits })
  await expect(read({ partsMax: 1 })).rejects.toThrow(/more than 1 parts/)
  await expect(read({ fieldBytesMax: 49 })).rejects.toThrow(/the field text is longer than 49 bytes/)
  await expect(read({ fileBytesMax: 49 })).rejects.toThrow(/the file image is larger than 49 bytes/)
  await expect(read({})).resolves.toMatchObject({ fields: [['text', 'x'.repeat(50)]] })
})

test.each([
  ['a field without a name', 'form-data', /a part has no name/],
  ['a file without a name', 'form-data; filename="a.png"', /a part has no name/],
  ['a field with an empty name', 'form-data; name=""', /a part has no name/],
  [
    'a field with an endless name',
    `form-data; name="${'n'.repeat(101)}"`,
    /a part has a name of more than 100 characters/,
  ],
])('refuses %s', async (_, disposition, reason) => {
  const body = Buffer.from(`--B\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--B--\r\n`)
  await expect(readForm(body, 'multipart/form-data; boundary=B', LIMITS)).rejects.toThrow(reason)
})

test('leaves the event loop to others while it reads a long form', async () => {
  const bytes = Buffer.alloc(2 * 1024 * 1024, 'x')
  const { body, contentType } = await writeForm([
    { name: 'image', value: { bytes, filename: 'a', contentType: 'image/png' } },
  ])
  let turns = 0
  let isRead = false
  const count = () => {
    turns++
    if (!isRead) setImmediate(count)
  }
  setImmediate(count)
  const form = await readForm(body, contentType, { ...LIMITS, fileBytesMax: bytes.length })
  isRead = true
  expect(form.files[0]?.bytes.equals(bytes)).toBe(true)
  expect(turns).toBeGreaterThan(30)
})

test('stops reading a form where a limit is exceeded', async () => {
  const write = vi.spyOn(Busboy.prototype, 'write')
  const body = Buffer.alloc(2 * 1024 * 1024, '--B\r\n\r\n\r\n')
  await expect(readForm(body, 'multipart/form-data; boundary=B', LIMITS)).rejects.toThrow(/more than 64 parts/)
  await new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  expect(write.mock.calls.length).toBeLessThan(3)
  write.mockRestore()
})

test('recognises a form by its content type', () => {
  expect(
    ['multipart/form-data; boundary=x', 'Multipart/Form-Data', ' multipart/form-data ;boundary=y'].map(isMultipart),
  ).toEqual([true, true, true])
  expect([undefined, '', 'application/json', 'multipart/form-datax', 'multipart/mixed'].some(isMultipart)).toBe(false)
})
