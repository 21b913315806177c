/** Unknown model names: how they are counted, what operators see, and the limits on memory and disk. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  countUnknownModels,
  readUnknownModels,
  type UnknownModelsOptions,
} from '../../src/operations/unknown-models.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

type Event = Parameters<UnknownModelsOptions['report']>[0]

function open(options: Partial<UnknownModelsOptions> = {}) {
  const events: Event[] = []
  const names = countUnknownModels({
    sql: database.sql,
    report: event => events.push(event),
    namesMax: 1_000,
    namesPerDayMax: 10_000,
    writeMs: 3_600_000,
    ...options,
  })
  return { names, events }
}

const listed = async (limit = 100) =>
  (await readUnknownModels(database.sql, { days: 7, limit })).map(each => [each.name, each.fellBack, each.refused])

test('the counts of several processes add up, and the most requested name comes first', async () => {
  await database.sql`delete from unknown_model`
  const processes = [open(), open()]
  for (const { names } of processes) {
    for (let call = 0; call < 3; call++) names.count('gtp-5', 'fell_back')
    names.count('claude-opus-9', 'fell_back')
    names.count('paint', 'refused')
  }
  await Promise.all(processes.map(({ names }) => names.close()))
  expect(await listed()).toEqual([
    ['gtp-5', 6, 0],
    ['claude-opus-9', 2, 0],
    ['paint', 0, 2],
  ])
  expect(await listed(1)).toEqual([['gtp-5', 6, 0]])
  expect(processes[0]?.names.calls).toEqual({ fell_back: 4, refused: 1 })
  expect(processes[0]?.events).toEqual([
    {
      level: 'info',
      fields: {
        names: [
          { name: 'gtp-5', calls: 3 },
          { name: 'claude-opus-9', calls: 1 },
          { name: 'paint', calls: 1 },
        ],
        otherNames: 0,
        calls: 5,
      },
      message: 'clients requested unknown models; add aliases or check their settings',
    },
  ])
})

test('names are stored in the same form as in usage rows, whatever clients send', async () => {
  await database.sql`delete from unknown_model`
  const { names, events } = open()
  const odd = [
    '',
    "'; drop table usage; --",
    '{"a",NULL}',
    'back\\slash',
    'line\r\nend',
    'nul\0',
    'half\ud800',
    '模型😀',
  ]
  for (const name of [...odd, 'x'.repeat(100_000)]) names.count(name, 'fell_back')
  await names.close()
  const kept = odd.map(name => name.toWellFormed().replaceAll('\0', ''))
  expect((await listed()).map(([name]) => name).toSorted()).toEqual([...kept, 'x'.repeat(256)].toSorted())
  expect(events.map(({ level }) => level)).toEqual(['info'])
})

test('a key sent in place of a name is neither stored nor logged', async () => {
  await database.sql`delete from unknown_model`
  const { names, events } = open()
  const keys = ['sk-svc-abcDEF_123456', 'Bearer sk-proj-abcdef-123456', 'AIzaSyAbcdefghijklm0123456789']
  for (const key of keys) names.count(key, 'fell_back')
  await names.close()
  expect((await listed()).map(([name]) => name).toSorted()).toEqual(['***', 'Bearer sk-…', 'sk-…'])
  expect(JSON.stringify(events)).not.toMatch(/abc/i)
})

test('names above the limits in memory and per day are counted, but not stored', async () => {
  await database.sql`delete from unknown_model`
  const { names, events } = open({ namesMax: 30, namesPerDayMax: 4 })
  for (let number = 0; number < 50; number++) names.count(`name-${number}`, 'fell_back')
  expect([names.calls.fell_back, names.unnamed]).toEqual([50, 20])
  await names.write()
  expect(await listed()).toHaveLength(4)
  expect(events[0]?.fields).toMatchObject({ otherNames: 10, calls: 30 })
  names.count('name-0', 'fell_back')
  names.count('a-new-one', 'fell_back')
  await names.close()
  const [first, ...others] = await listed()
  expect(first).toEqual(['name-0', 2, 0])
  expect(others.map(([name]) => name)).not.toContain('a-new-one')
})

test('counts that could not be written are written the next time', async () => {
  await database.sql`delete from unknown_model`
  let isDown = true
  const sql = {
    unsafe: (...given: Parameters<typeof database.sql.unsafe>) =>
      isDown ? Promise.reject(new Error('down')) : database.sql.unsafe(...given),
  } as unknown as UnknownModelsOptions['sql']
  const { names, events } = open({ sql })
  names.count('lost', 'refused')
  await names.write()
  expect(await listed()).toEqual([])
  names.count('lost', 'refused')
  isDown = false
  await names.close()
  expect(await listed()).toEqual([['lost', 0, 2]])
  expect(events.map(({ level }) => level)).toEqual(['warn', 'info'])
})

test('only the requested days are read, and days long past are deleted', async () => {
  await database.sql`delete from unknown_model`
  const today = `(now() at time zone 'Asia/Ho_Chi_Minh')::date`
  await database.sql.unsafe(
    `insert into unknown_model (day, name, fell_back, refused) values (${today} - 6, 'week', 1, 0), (${today} - 7, 'older', 1, 0), (${today} - 91, 'past', 1, 0)`,
  )
  expect(await listed()).toEqual([['week', 1, 0]])
  const { names } = open()
  names.count('now', 'fell_back')
  await names.close()
  const rows = await database.sql`select name from unknown_model order by name`
  expect(rows.map(row => row.name)).toEqual(['now', 'older', 'week'])
})
