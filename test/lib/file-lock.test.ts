import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { FileLock } from '../../src/lib/file-lock.ts'

const folder = mkdtempSync(join(tmpdir(), 'gateway-lock-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('many can share a lock, or one can have it exclusively', () => {
  const [a, b, c] = [1, 2, 3].map(() => new FileLock(join(folder, 'shared'))) as [FileLock, FileLock, FileLock]
  expect([a.tryShared(), b.tryShared(), c.tryExclusive()]).toEqual([true, true, false])
  a.release()
  expect(c.tryExclusive()).toBe(false)
  b.release()
  expect([c.tryExclusive(), a.tryShared(), b.tryExclusive()]).toEqual([true, false, false])
  c.release()
  expect(a.tryShared()).toBe(true)
  a.release()
})

test('the lock of a killed process is free', async () => {
  const path = join(folder, 'killed')
  const program = `const { FileLock } = await import(process.env.MODULE)
    new FileLock(process.env.FILE).tryExclusive()
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, MODULE: new URL('../../src/lib/file-lock.ts', import.meta.url).href, FILE: path },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await new Promise(resolve => child.stdout.once('data', resolve))
  const lock = new FileLock(path)
  expect(lock.tryExclusive()).toBe(false)
  child.kill('SIGKILL')
  await new Promise(resolve => child.once('exit', resolve))
  expect(lock.tryExclusive()).toBe(true)
  lock.release()
})

test('waiting for a lock times out with the name of its file', async () => {
  const [holder, waiter] = [new FileLock(join(folder, 'waited')), new FileLock(join(folder, 'waited'))]
  holder.tryShared()
  await expect(waiter.exclusive({ timeoutMs: 30 })).rejects.toThrow(join(folder, 'waited'))
  holder.release()
  await waiter.exclusive({ timeoutMs: 5_000 })
  waiter.release()
})
