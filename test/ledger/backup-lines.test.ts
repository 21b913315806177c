import { expect, test } from 'vitest'
import { LineReader } from '../../src/ledger/backup/line-reader.ts'

/**
 * Rows of the first of two tables; the second is empty. Some resemble the end marker `\.`, but COPY doubles their backslashes.
 */
const ROWS = ['1\\t\\\\.\n', '2\tmột hai\u2028ba\n', '\\\\.\n', `3\t${'x'.repeat(40)}\n`].join('')
const FILE = Buffer.from(`{"table":"one"}\n${ROWS}\\.\n{"table":"two"}\n\\.\n{"rows":4}\n`)

async function* piecesOf(file: Buffer, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < file.length; at += bytes) yield file.subarray(at, at + bytes)
}

async function rowsOf(lines: LineReader): Promise<string> {
  const blocks = await Array.fromAsync(lines.rows())
  for (const block of blocks) expect(block.at(-1)).toBe(10)
  return Buffer.concat(blocks).toString()
}

test('lines and rows are the same wherever the file is cut', async () => {
  for (let bytes = 1; bytes <= FILE.length; bytes++) {
    const lines = new LineReader(piecesOf(FILE, bytes))
    expect((await lines.line()).toString()).toBe('{"table":"one"}\n')
    expect(await rowsOf(lines)).toBe(ROWS)
    expect((await lines.line()).toString()).toBe('{"table":"two"}\n')
    expect(await rowsOf(lines)).toBe('')
    expect((await lines.line()).toString()).toBe('{"rows":4}\n')
    await expect(lines.line()).rejects.toThrow('truncated')
  }
})

test('a table without its end is a truncated file', async () => {
  const lines = new LineReader(piecesOf(Buffer.from('{"table":"one"}\n1\n2\n\\.'), 5))
  await lines.line()
  await expect(rowsOf(lines)).rejects.toThrow('truncated')
})
