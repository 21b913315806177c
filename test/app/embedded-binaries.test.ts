import { existsSync, mkdirSync, mkdtempSync, readlinkSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { completeNativeDirectory, copyNativeDirectory, locateNativeDirectory } from '../../src/app/embedded/binaries.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-binaries-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Creates a package as npm installs it when install scripts are disabled. */
function makePackage(name: string): string {
  const native = join(folder, name, 'native')
  for (const part of ['bin', 'lib']) mkdirSync(join(native, part), { recursive: true })
  for (const program of ['postgres', 'initdb']) writeFileSync(join(native, 'bin', program), '', { mode: 0o644 })
  writeFileSync(join(native, 'lib', 'libx.so.1.2'), 'library')
  const links = [{ source: 'native/lib/libx.so.1.2', target: 'native/lib/libx.so.1' }]
  writeFileSync(join(native, 'pg-symlinks.json'), JSON.stringify(links))
  return native
}

test('finds the programs of this machine', () => {
  expect(existsSync(join(locateNativeDirectory(), 'bin', 'postgres'))).toBe(true)
})

test('adds what install scripts would have added, and can be repeated', () => {
  const native = makePackage('bare')
  completeNativeDirectory(native)
  completeNativeDirectory(native)
  expect(statSync(join(native, 'bin', 'postgres')).mode & 0o111).toBe(0o111)
  expect(readlinkSync(join(native, 'lib', 'libx.so.1'))).toBe('libx.so.1.2')
})

test('says what to do when something is missing that cannot be added', () => {
  const native = makePackage('broken')
  rmSync(join(native, 'bin', 'initdb'))
  expect(() => completeNativeDirectory(native)).toThrow('Run `npm rebuild`')
})

test('copies programs and links, and never uses a copy that was interrupted', () => {
  const native = makePackage('source')
  completeNativeDirectory(native)
  const target = join(folder, 'elsewhere', 'native')
  mkdirSync(`${target}.1`, { recursive: true })
  copyNativeDirectory(native, target)
  expect(readlinkSync(join(target, 'lib', 'libx.so.1'))).toBe('libx.so.1.2')
  expect(existsSync(join(target, 'bin', 'postgres'))).toBe(true)
})
