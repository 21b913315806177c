/**
 * Reads spools damaged at random. `make fuzz-spools` tries 10,000 spools. `make fuzz-spools SPOOLS=100000 SEED=7` tries more, and
 * damages them in the same way every time.
 */

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { LEDGER_LIMITS, type LedgerEvent } from '../../src/ledger/options.ts'
import { Spool } from '../../src/ledger/spool.ts'
import { writeDone, writeHeader, writeSettlement } from '../../src/ledger/spool-line.ts'
import type { Settlement } from '../../src/ledger/types.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { type Random, seededRandom } from '../support/random.ts'
import { damageSpool } from './damage.ts'
import {
  CALL_MICRO_VND,
  type Customer,
  createCustomer,
  expectCleanAudit,
  holdRequest,
  patient,
  settlement,
  startLedger,
  usageOf,
  walletOf,
} from './world.ts'

const SPOOLS = Number(process.env.SPOOLS ?? 400)
const STARTS = Math.ceil(SPOOLS / 40)
/** Long enough for a busy machine; the tests should take far less. */
const TIMEOUT = { timeout: 180_000 + SPOOLS * 100 }
const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000_007)

const database = await createTestDatabase()
const folder = mkdtempSync(join(tmpdir(), 'gateway-damage-'))
let databaseId = ''
let owner: Customer
let stranger: Customer
beforeAll(async () => {
  databaseId = (await database.sql`select database_id from database_identity`)[0]!.database_id
  owner = await createCustomer(database.sql, 100_000n * CALL_MICRO_VND)
  stranger = await createCustomer(database.sql, 100_000n * CALL_MICRO_VND)
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await database.drop()
})

const OPENED_MS = Date.now() - 1_000

/** An id that depends on the seed only. */
function randomId(random: Random): string {
  const hex = Array.from({ length: 32 }, () => random(16).toString(16)).join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

const FILES = 3
const LINES = 6

/** Writes spool files as a killed process leaves them: some settlements are marked as done. Returns all settlements written. */
function writeSpool(path: string, { random, id, of }: { random: Random; id: string; of: Customer }): Settlement[] {
  mkdirSync(path, { recursive: true })
  const settlements: Settlement[] = []
  for (let file = 1; file <= FILES; file++) {
    let text = writeHeader(id)
    for (let line = 0; line < LINES; line++) {
      const done = settlements[random(settlements.length * 3 + 1)]
      if (done !== undefined) text += writeDone(done.callId, id)
      const one = settlement(of, {
        callId: randomId(random),
        requestedName: random(3) === 0 ? 'tên "lạ"' : null,
        streamed: random(2) === 0,
        openedAt: new Date(OPENED_MS + random(1_000)),
      })
      settlements.push(one)
      text += writeSettlement(one, id)
    }
    writeFileSync(join(path, `0000000${file}.jsonl`), text)
  }
  return settlements
}

function linesOf(path: string): string[] {
  return readdirSync(path)
    .filter(name => /^\d+\.jsonl$/.test(name))
    .flatMap(name => readFileSync(join(path, name), 'latin1').split('\n'))
    .filter(Boolean)
}

/** Strips the checksum, which earlier versions did not write. */
const withoutChecksum = (line: string): string => line.replace(/,"crc":"[^"]+"/, '')
const asLine = (one: Settlement): string => Buffer.from(writeSettlement(one, databaseId)).toString('latin1').trimEnd()

/**
 * What reading a damaged spool must yield. `owed`: ids of calls whose settlement is intact and not marked as done. `bad`: the
 * number of lines to set aside.
 */
function expected(path: string, settlements: readonly Settlement[]): { owed: string[]; bad: number } {
  const lines = linesOf(path)
  const present = new Set(lines)
  const good = new Set([...settlements.map(asLine), writeHeader(databaseId).trimEnd()])
  const done = new Set<string>()
  for (const { callId } of settlements) {
    // The second form is from earlier versions, without a checksum.
    for (const line of [writeDone(callId, databaseId).trimEnd(), `{"done":"${callId}"}`]) {
      good.add(line)
      if (present.has(line)) done.add(callId)
    }
  }
  const owed = settlements.filter(one => present.has(asLine(one)) && !done.has(one.callId)).map(({ callId }) => callId)
  // A settlement that lost only its checksum passes for one of an earlier version, which needs proof. If an intact line settles
  // the same call, the proof is not needed, and the line is not set aside.
  const known = new Set([...done, ...owed])
  for (const one of settlements) if (known.has(one.callId)) good.add(withoutChecksum(asLine(one)))
  return { owed, bad: lines.filter(line => !good.has(line) && !DONE_OF_EARLIER_VERSION.test(line)).length }
}

/**
 * A "done" line as earlier versions wrote it. It counts as valid even if no settlement has its call id, because the settlement
 * may have been in a file that is gone.
 */
const DONE_OF_EARLIER_VERSION = /^\{"done":"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"\}$/

const otherId = '01900000-0000-7000-8000-00000000abcd'

test(
  `${SPOOLS} damaged spools are read: what is whole is there as it was, the rest is set aside (SEED=${SEED})`,
  TIMEOUT,
  () => {
    const path = join(folder, 'read')
    for (let number = 0; number < SPOOLS; number++) {
      const random = seededRandom(SEED + number)
      rmSync(path, { recursive: true, force: true })
      const settlements = writeSpool(path, { random, id: databaseId, of: owner })
      const others = [settlement(stranger), settlement(stranger)].map(one => writeSettlement(one, otherId).trimEnd())
      damageSpool(path, { random, others })
      const { owed, bad } = expected(path, settlements)
      const events: LedgerEvent[] = []
      const report = (event: LedgerEvent): unknown => events.push(event)
      const spool = new Spool({ folder: path, limits: LEDGER_LIMITS, databaseId, report })
      const found = spool.load()
      const why = `SEED=${SEED + number} SPOOLS=1`
      // A settlement that lost only its checksum looks like one of an earlier version, so the database must confirm it.
      const checked = found.filter(({ unproven }) => unproven === null).map(line => line.settlement)
      const byId = new Map(settlements.map(one => [one.callId, one]))
      expect(checked, why).toEqual(checked.map(({ callId }) => byId.get(callId)))
      expect(checked.map(({ callId }) => callId).sort(), why).toEqual(owed.sort())
      const unproven = found.filter(line => line.unproven !== null)
      for (const line of unproven) spool.giveUp(line)
      const { lines } = spool.setAside
      expect(lines, why).toBeLessThanOrEqual(bad)
      expect(lines > 0, why).toBe(bad > 0)
      expect(
        events.filter(({ code }) => code !== 'spool_set_aside').map(({ message }) => message),
        why,
      ).toEqual([])
      expect(events.length > 0, why).toBe(bad > 0)
      spool.close()
    }
  },
)

test(
  `gateways start on ${STARTS} damaged spools, charge nobody else and lose only what is damaged (SEED=${SEED})`,
  TIMEOUT,
  async () => {
    const spoolDir = join(folder, 'start')
    let charged = 0
    for (let number = 0; number < STARTS; number++) {
      const random = seededRandom(SEED + number)
      const name = `damaged ${number}`
      const path = join(spoolDir, encodeURIComponent(name))
      const settlements = writeSpool(path, { random, id: databaseId, of: owner })
      const others = [settlement(stranger), settlement(stranger)].map(one => writeSettlement(one, otherId).trimEnd())
      damageSpool(path, { random, others })
      const { owed, bad } = expected(path, settlements)
      const ledger = await startLedger(database.url, { name, spoolDir })
      charged += owed.length
      const ids = settlements.map(one => one.callId)
      const rows = await database.sql`select call_id from usage where call_id in ${database.sql(ids)}`
      expect(rows.map(row => row.call_id).sort(), `SEED=${SEED + number}`).toEqual(owed.sort())
      const [told] = await database.sql`select lines from spool_set_aside where name = ${name}`
      expect((told?.lines ?? 0) > 0, `SEED=${SEED + number}`).toBe(bad > 0)
      await ledger.close()
    }
    expect(await usageOf(database.sql, stranger)).toEqual([])
    const { balance, held } = await walletOf(database.sql, owner)
    expect({ balance, held }).toEqual({ balance: (100_000n - BigInt(charged)) * CALL_MICRO_VND, held: 0n })
    await expectCleanAudit(database.sql)
  },
)

const OLD_NAMES = [
  ['without its account', (line: string) => line.replace(/"accountId":\d+,/, '')],
  ['with no number for its account', (line: string) => line.replace(/"accountId":\d+/, '"accountId":{}')],
  ['with an invalid time', (line: string) => line.replace(/"openedAt":"[^"]+"/, '"openedAt":"yesterday"')],
  ['with an unknown unit', (line: string) => line.replace('"mtok"', '"constructor"')],
] as const

test.each(OLD_NAMES)('a line %s is set aside and named, and the gateway still starts', async (what, change) => {
  const spoolDir = join(folder, what)
  const path = join(spoolDir, 'damaged')
  mkdirSync(path, { recursive: true })
  const [bad, good] = [settlement(owner), settlement(owner)]
  const old = (one: Settlement): string => withoutChecksum(writeSettlement(one, databaseId))
  const file = join(path, '00000001.jsonl')
  writeFileSync(file, change(old(bad)) + writeSettlement(good, databaseId))
  const ledger = await startLedger(database.url, { name: 'damaged', spoolDir })
  expect(ledger.events.map(({ code }) => code)).toEqual(['spool_set_aside', 'spool_replayed'])
  expect(ledger.events[0]?.message).toContain(`${file}: 1 lines cannot be trusted`)
  expect(ledger.events[0]?.message).toContain(join(path, 'set-aside.jsonl'))
  expect(ledger.metrics().setAside).toEqual({ lines: 1, files: 0 })
  const [entry] = readFileSync(join(path, 'set-aside.jsonl'), 'utf8').trim().split('\n')
  expect(JSON.parse(entry!)).toMatchObject({ line: 1, reason: 'shape', text: change(old(bad)).trimEnd() })
  await ledger.close()
  const rows = await database.sql`select call_id from usage where call_id in (${bad.callId}, ${good.callId})`
  expect(rows.map(row => row.call_id)).toEqual([good.callId])
})

test('a line without a checksum is settled if the call’s hold agrees, and set aside if it names another account', async () => {
  const spoolDir = join(folder, 'old lines')
  const earlier = await startLedger(database.url, { name: 'old', spoolDir })
  const calls = [holdRequest(owner), holdRequest(owner), holdRequest(owner)]
  for (const request of calls) await earlier.admit(request, patient)
  await earlier.close()
  const [agrees, changed, doubled] = calls.map(({ callId }) => settlement(owner, { callId }))
  const old = (one: Settlement): string => withoutChecksum(writeSettlement(one, databaseId))
  const lines = [agrees!, { ...changed!, accountId: stranger.accountId }, doubled!, doubled!].map(old)
  writeFileSync(join(spoolDir, 'old', '00000009.jsonl'), lines.join(''))
  const before = await walletOf(database.sql, stranger)
  const ledger = await startLedger(database.url, { name: 'old', spoolDir })
  expect(await walletOf(database.sql, stranger)).toEqual(before)
  const rows =
    await database.sql`select call_id, status from usage where call_id in ${database.sql(calls.map(one => one.callId))}`
  expect(new Map(rows.map(row => [row.call_id, row.status]))).toEqual(
    // The call whose line cannot be trusted is not charged, and its hold is released, as for an interrupted call.
    new Map([
      [agrees!.callId, 200],
      [changed!.callId, 599],
      [doubled!.callId, 200],
    ]),
  )
  expect(ledger.metrics().setAside).toEqual({ lines: 1, files: 0 })
  await ledger.close()
})

test('lines set aside are no longer reported once an operator has removed their file, and are not set aside again', async () => {
  const spoolDir = join(folder, 'cleared')
  const path = join(spoolDir, 'cleared')
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, '00000001.jsonl'), '{"accountId":1}\n')
  const told = async (): Promise<number> =>
    (await database.sql`select lines from spool_set_aside where name = 'cleared'`)[0]?.lines ?? 0
  await (await startLedger(database.url, { name: 'cleared', spoolDir })).close()
  expect(await told()).toBe(1)
  await (await startLedger(database.url, { name: 'cleared', spoolDir })).close()
  expect(await told()).toBe(1)
  rmSync(join(path, 'set-aside.jsonl'))
  const sibling = await startLedger(database.url, { name: 'sibling', spoolDir })
  expect(await told()).toBe(0)
  await sibling.close()
})

test('a gateway starts despite a lock file and folders full of garbage', async () => {
  const spoolDir = join(folder, 'garbage')
  for (const name of ['own', 'other', '%E0%A4%A', 'no-lock']) mkdirSync(join(spoolDir, name), { recursive: true })
  for (const name of ['own', 'other']) writeFileSync(join(spoolDir, name, 'lock'), 'garbage '.repeat(999))
  mkdirSync(join(spoolDir, 'own', '00000001.jsonl'))
  mkdirSync(join(spoolDir, 'own', 'set-aside.jsonl'))
  mkdirSync(join(spoolDir, 'own', 'timeline'))
  writeFileSync(join(spoolDir, 'own', '00000002.jsonl'), '{"x":1}\n')
  const ledger = await startLedger(database.url, { name: 'own', spoolDir })
  expect(ledger.metrics().setAside).toEqual({ lines: 1, files: 0 })
  expect(await ledger.settle(settlement(owner))).toMatchObject({ outcome: 'settled' })
  await ledger.close()
  expect(readFileSync(join(spoolDir, 'own', '00000002.jsonl'), 'utf8')).toBe('{"x":1}\n')
})

test('a spool of another database is not replayed, and is when its gateway is back', async () => {
  const elsewhere = await createTestDatabase()
  const spoolDir = join(folder, 'foreign')
  const path = join(spoolDir, 'moved')
  mkdirSync(path, { recursive: true })
  const [here, there] = [settlement(owner), settlement(owner)]
  const thereId = (await elsewhere.sql`select database_id from database_identity`)[0]!.database_id
  await createCustomer(elsewhere.sql, 10n * CALL_MICRO_VND)
  writeFileSync(join(path, '00000001.jsonl'), writeHeader(databaseId) + writeSettlement(here, databaseId))
  writeFileSync(join(path, '00000002.jsonl'), writeHeader(thereId) + writeSettlement(there, thereId))
  writeFileSync(join(path, '00000003.done.jsonl'), writeHeader(databaseId) + writeSettlement(here, databaseId))
  writeFileSync(join(path, 'timeline'), '00000099')
  const ledger = await startLedger(elsewhere.url, { name: 'moved', spoolDir })
  expect(ledger.events.map(({ code }) => code)).toContain('spool_foreign')
  expect(ledger.events[0]?.message).toContain(`belongs to another database (${databaseId})`)
  expect(ledger.metrics().setAside).toEqual({ lines: 0, files: 1 })
  expect((await elsewhere.sql`select call_id from usage`).map(row => row.call_id)).toEqual([there.callId])
  await ledger.close()
  const back = await startLedger(database.url, { name: 'moved', spoolDir })
  expect(back.metrics().setAside).toEqual({ lines: 0, files: 0 })
  const rows = await database.sql`select call_id from usage where call_id in (${here.callId}, ${there.callId})`
  expect(rows.map(row => row.call_id)).toEqual([here.callId])
  await back.close()
  await elsewhere.drop()
})
