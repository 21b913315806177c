import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { afterEach, expect, test, vi } from 'vitest'
import { createLog } from '../../src/lib/log.ts'

afterEach(() => vi.useRealTimers())

test('a silent log does nothing, not even on a timer', () => {
  vi.useFakeTimers()
  createLog('silent').fatal('unheard')
  expect(vi.getTimerCount()).toBe(0)
  createLog('info').info('heard')
  expect(vi.getTimerCount()).toBe(1)
  vi.runOnlyPendingTimers()
  expect(vi.getTimerCount()).toBe(0)
})

/** Runs `script` with a `log`, writing to standard error as `stderr` says. */
function logging(script: string, stderr: 'pipe' | number) {
  const code = `import { setTimeout as sleep } from 'node:timers/promises'
    import { createLog } from ${JSON.stringify(new URL('../../src/lib/log.ts', import.meta.url))}
    const log = createLog('info')
    ${script}`
  return spawnSync(process.execPath, ['--expose-gc', '--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', stderr],
    encoding: 'utf8',
    timeout: 60_000,
    maxBuffer: 100_000_000,
  })
}

test('a log that cannot be written, as on a full disk, neither ends the process, nor keeps it, nor fills its memory', () => {
  const disk = openSync('/dev/full', 'w')
  const { status, stdout } = logging(
    `for (let round = 0; round < 10; round++) {
      for (let line = 0; line < 1_000; line++) log.info('x'.repeat(10_000))
      await sleep(20)
    }
    gc()
    console.log(process.memoryUsage().heapUsed < 50_000_000 ? 'well' : 'swollen')`,
    disk,
  )
  closeSync(disk)
  expect({ status, stdout }).toEqual({ status: 0, stdout: 'well\n' })
})

test('every line is written once and in order, those before an exit too', () => {
  const { stderr } = logging(
    `let number = 0
    for (let round = 0; round < 40; round++) {
      for (let line = 0; line < 50; line++) log.info({ number: number++ }, 'Đường'.repeat(50))
      await sleep(round % 3)
    }`,
    'pipe',
  )
  const numbers = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).number)
  expect(numbers).toEqual(Array.from({ length: 2_000 }, (_, number) => number))
})

test('lines that are dropped are counted in the log, those before an exit too', () => {
  const { stderr } = logging(
    `const burst = () => { for (let line = 0; line < 20_000; line++) log.info({ line }, 'x'.repeat(100)) }
    burst()
    await sleep(500)
    log.info({ line: 20_000 }, 'between')
    burst()`,
    'pipe',
  )
  const lines = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const dropped = lines.filter(({ level }) => level === 'error').map(line => line.lines)
  expect(dropped).toHaveLength(2)
  expect(lines.length - 2 + dropped[0] + dropped[1]).toBe(40_001)
  expect(lines.at(-1)).toMatchObject({ msg: expect.stringContaining('dropped') })
})
