/** Data URLs, as clients write them. */

import { expect, test, vi } from 'vitest'
import { readDataUrl } from '../../src/conversation/images.ts'

test.each([
  ['data:image/png;base64,AAAA', { mediaType: 'image/png', data: 'AAAA' }],
  ['DATA:Image/PNG ; charset=utf-8 ; Base64,AA-_', { mediaType: 'image/png', data: 'AA+/' }],
  ['data:text/plain,H%C3%A0', { mediaType: 'text/plain', data: 'SMOg' }],
  ['data:;base64,AAAA', { mediaType: '', data: 'AAAA' }],
  [`data:application/pdf;name=${'%E1%BA%A1'.repeat(255)};base64,AAAA`, { mediaType: 'application/pdf', data: 'AAAA' }],
])('%j', (url, read) => {
  expect(readDataUrl(url)).toEqual(read)
})

// Millions of parameters take a second to split, and an error would repeat a media type of any length.
test.each(['x', ';', '; ', 'image/png;'])('%j in endless repetition before the data makes no data URL', part => {
  expect(readDataUrl(`data:${part.repeat(5_000)};base64,AAAA`)).toBeNull()
})

test.each(['-_', 'a-', '- _\n', 'é '])('%j a thousand times over is put right without a search for each', part => {
  const payload = part.repeat(1_000)
  const searches = [vi.spyOn(String.prototype, 'replaceAll'), vi.spyOn(String.prototype, 'replace')]
  const read = readDataUrl(`data:application/pdf;base64,${payload}`)
  const count = searches.reduce((sum, { mock }) => sum + mock.calls.length, 0)
  vi.restoreAllMocks()
  expect(read?.data).toBe(payload.replace(/\s/g, '').replace(/-/g, '+').replace(/_/g, '/'))
  expect(count).toBe(0)
})
