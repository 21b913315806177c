import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { processName } from '../../src/app/process-name.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-name-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function nameIn(dataDir: string, environment: Record<string, string> = {}): string {
  return processName(readConfig({ environment: { DATA_DIR: join(folder, dataDir), ...environment }, upstreamIds: [] }))
}

test('processes of one host name and port have different names on different disks, and keep them over restarts', () => {
  const names = [nameIn('one'), nameIn('two'), nameIn('one', { PORT: '8081' })]
  expect(new Set(names).size).toBe(3)
  expect([nameIn('one'), nameIn('two'), nameIn('one', { PORT: '8081' })]).toEqual(names)
})

test('a number that a full disk left incomplete is made again, once', () => {
  const name = nameIn('full')
  for (const rest of ['', name.slice(-8, -4), `${name.slice(-8)}\n\n`]) {
    writeFileSync(join(folder, 'full', 'folder-number'), rest)
    const again = nameIn('full')
    expect(again).not.toBe(name)
    expect(nameIn('full')).toBe(again)
  }
})

test('where nothing can be written, a process still has a name of its own', () => {
  writeFileSync(join(folder, 'file'), '')
  expect(nameIn('file')).not.toBe(nameIn('file'))
})
