import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { ATTEMPTS_MAX, checkSettlement, NAME_CHARACTERS_MAX } from '../../src/ledger/check.ts'
import type { LedgerEvent } from '../../src/ledger/options.ts'
import { Spool } from '../../src/ledger/spool.ts'
import { readLine, writeSettlement } from '../../src/ledger/spool-line.ts'
import { microVnd } from '../../src/lib/money.ts'
import { settlement } from './calls.ts'

let folder: string
let events: LedgerEvent[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gateway-spool-'))
  events = []
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const LIMITS = {
  spoolSegmentBytes: 2_000,
  spoolSegmentMs: 60_000,
  spoolRetentionMs: 600_000,
  spoolBytesMax: 1_000_000,
  spoolSetAsideBytesMax: 1_000_000,
}

function openSpool(limits: Partial<typeof LIMITS> = {}): Spool {
  return new Spool({
    folder,
    limits: { ...LIMITS, ...limits },
    databaseId: DATABASE,
    report: event => events.push(event),
  })
}

const DATABASE = '01900000-0000-7000-8000-000000000001'
const customer = { accountId: 7, keyId: 9 }
const files = (): string[] => readdirSync(folder).sort()

test('the successor finds exactly the settlements that were not done, in whichever file, with every field unchanged', () => {
  const calls = Array.from({ length: 12 }, () =>
    settlement(customer, {
      requestedName: 'a "name"\n',
      firstByteMs: null,
      streamed: true,
      cacheWriteTokens: 5,
      upstreamCostMicroVnd: microVnd(12_345_678_901n),
    }),
  )
  const first = openSpool()
  for (const finished of calls) first.append(finished)
  for (const { callId } of calls.slice(0, 5)) first.done(callId)
  first.close()
  expect(files().length).toBeGreaterThan(1)
  const second = openSpool()
  expect(second.load()).toEqual(calls.slice(5).map(finished => ({ settlement: finished, unproven: null })))
  for (const { callId } of calls.slice(5)) second.done(callId)
  second.close()
  expect(openSpool().load()).toEqual([])
})

test('a line of a version that did not know the operator’s costs is valid, too', () => {
  const plain = settlement(customer)
  const lines = [plain, { ...plain, upstreamCostMicroVnd: null }, { ...plain, upstreamCostMicroVnd: microVnd(9n) }]
  for (const finished of lines) {
    const text = writeSettlement(finished, DATABASE)
    const read = readLine(Buffer.from(text.trimEnd()), DATABASE)
    expect(read).toEqual({ kind: 'settlement', settlement: finished, checked: true })
  }
  const changed = writeSettlement(lines[2] as typeof plain, DATABASE).replace('"9"', '"8"')
  expect(readLine(Buffer.from(changed.trimEnd()), DATABASE)).toEqual({ kind: 'damaged', reason: 'checksum' })
})

test('the longest settlement that the ledger accepts is read back', () => {
  const label = '"'.repeat(100)
  const longest = settlement(customer, {
    entryId: 'ệ'.repeat(NAME_CHARACTERS_MAX),
    requestedName: '\u0001'.repeat(NAME_CHARACTERS_MAX),
    attempts: Array.from({ length: ATTEMPTS_MAX }, () => {
      return {
        credential: label,
        model: label,
        startedMs: 2 ** 31 - 1,
        endedMs: 2 ** 31 - 1,
        outcome: label,
        status: 999,
      }
    }),
    errorCode: label,
    requestId: '"'.repeat(128),
    tag: 'a'.repeat(64),
  })
  checkSettlement(longest)
  const text = writeSettlement(longest, DATABASE)
  expect(readLine(Buffer.from(text.trimEnd()), DATABASE)).toMatchObject({ kind: 'settlement', settlement: longest })
})

test('a line is in the file once it is flushed, without waiting for more lines', () => {
  const spool = openSpool()
  spool.append(settlement(customer))
  spool.flush()
  expect(readFileSync(join(folder, '00000001.jsonl'), 'utf8')).toMatch(/^(\{.*\}\n){2}$/)
  spool.close()
})

test('finished files are marked, kept for the retention and then dropped; unfinished ones stay', () => {
  const spool = openSpool({ spoolSegmentMs: 0 })
  const [done, owed] = [settlement(customer), settlement(customer)]
  spool.append(done)
  const now = Date.now()
  spool.tidy(now + 1)
  spool.append(owed)
  spool.done(done.callId)
  spool.tidy(now + 60_000)
  expect(files()).toEqual(['00000001.done.jsonl', '00000002.jsonl'])
  expect([...spool.retained()].flat().map(({ settlement: { callId } }) => callId)).toEqual([done.callId, owed.callId])
  spool.tidy(now + 700_000)
  expect(files()).toEqual(['00000002.jsonl'])
  expect(spool.owed()).toEqual([owed])
  spool.close()
})

test('when the spool is too large, finished files are dropped before their retention ends, unfinished ones never', () => {
  const spool = openSpool({ spoolBytesMax: 3_000 })
  const calls = Array.from({ length: 40 }, () => settlement(customer))
  for (const finished of calls) spool.append(finished)
  for (const { callId } of calls.slice(4)) spool.done(callId)
  spool.tidy()
  const kept = files()
  expect(kept.length).toBeLessThan(5)
  expect(kept[0]).toBe('00000001.jsonl')
  expect(spool.owed().map(({ callId }) => callId)).toEqual(calls.slice(0, 4).map(({ callId }) => callId))
  spool.close()
})

test('settlements that could not be written can be appended again', () => {
  const spool = openSpool()
  const [first, second] = [settlement(customer), settlement(customer)]
  rmSync(folder, { recursive: true, force: true })
  spool.append(first)
  spool.flush()
  mkdirSync(folder)
  spool.append(second)
  spool.append(first)
  spool.close()
  expect(openSpool().load()).toEqual([second, first].map(finished => ({ settlement: finished, unproven: null })))
})

test('a disk that cannot be written to is reported once and stops nothing', () => {
  const spool = openSpool()
  rmSync(folder, { recursive: true, force: true })
  spool.append(settlement(customer))
  spool.flush()
  spool.append(settlement(customer))
  spool.flush()
  expect(events.map(({ code, level }) => [code, level])).toEqual([['spool_failed', 'error']])
  spool.close()
})
