import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { connect as connectTls, createServer as createTlsServer } from 'node:tls'
import { afterAll, describe, expect, test } from 'vitest'
import { classifyFault, openDatabase, openStatementPool, type Sql } from '../../src/lib/database.ts'
import { CERTIFICATE, CERTIFICATE_KEY } from '../support/certificate.ts'
import { createTestDatabase } from '../support/postgres.ts'

const database = await createTestDatabase({ migrated: false })
afterAll(() => database.drop())

test.each([
  ['08006', 'retry'],
  ['57P01', 'retry'],
  ['57014', 'retry'],
  ['53100', 'retry'],
  ['40P01', 'retry'],
  ['25006', 'retry'],
  ['CONNECTION_CLOSED', 'retry'],
  ['ECONNREFUSED', 'retry'],
  ['23505', 'conflict'],
  ['22003', 'bug'],
  ['23514', 'bug'],
  ['42P01', 'bug'],
  ['', 'bug'],
])('judges %s as %s', (code, kind) => {
  expect(classifyFault(Object.assign(new Error(), { code }))).toBe(kind)
})

test.each(['EMFILE', 'ENOENT', 'EACCES', 'EADDRNOTAVAIL', 'ENOBUFS'])(
  'a connection that cannot be opened (%s) is worth a retry; the same error from the file system is a bug',
  code => {
    const of = (syscall: string) => Object.assign(new Error(), { code, syscall })
    const ofBoth = Object.assign(new AggregateError([of('connect'), of('connect')]), { code })
    expect([of('connect'), ofBoth, of('open')].map(classifyFault)).toEqual(['retry', 'retry', 'bug'])
  },
)

test('a missing socket and an untrusted certificate are worth a retry', async () => {
  const noSocket = connect({ path: '/nowhere/.s.PGSQL.5432' })
  const server = createTlsServer({ cert: CERTIFICATE, key: CERTIFICATE_KEY }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const distrusted = connectTls({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
  const faults = [noSocket, distrusted].map(socket => new Promise(resolve => socket.once('error', resolve)))
  expect((await Promise.all(faults)).map(classifyFault)).toEqual(['retry', 'retry'])
  server.close()
})

test('each kind of connection has the durability that it was opened with', async () => {
  for (const synchronousCommit of ['on', 'off'] as const) {
    const sql = openDatabase({
      url: database.url,
      name: 'settings',
      connectionsMax: 1,
      synchronousCommit,
      statementTimeoutMs: 1_234,
    })
    const rows = await sql.unsafe(
      `select current_setting('synchronous_commit') as a, current_setting('statement_timeout') as b`,
    )
    expect(rows).toEqual([{ a: synchronousCommit, b: '1234ms' }])
    await sql.end()
  }
})

test('a transaction that waited for a busy connection has that connection to itself', async () => {
  const sql = openDatabase({ url: database.url, name: 'transactions', connectionsMax: 2 })
  await sql`create table if not exists begun (n integer)`
  const busy = Array.from({ length: 2 }, () => sql`select pg_sleep(0.2)`.execute())
  const transactions = Array.from({ length: 6 }, (_, n) =>
    sql.begin(async transaction => {
      await transaction`insert into begun values (${n}::text::integer)`
      if (n % 2 === 1) throw new Error('undone')
    }),
  )
  const alone = Array.from({ length: 6 }, () => sql`insert into begun values (100)`.execute())
  const ends = await Promise.allSettled([...busy, ...transactions, ...alone])
  const failed = ends.flatMap(end => (end.status === 'rejected' ? [(end.reason as Error).message] : []))
  expect(failed).toEqual(['undone', 'undone', 'undone'])
  const rows = await sql`select n, count(*)::integer as count from begun group by n order by n`
  expect(rows.map(({ n, count }) => [n, count])).toEqual([
    [0, 1],
    [2, 1],
    [4, 1],
    [100, 6],
  ])
  await sql.end({ timeout: 5 })
})

test('a statement that times out fails, and the next one gets a fresh connection', async () => {
  const pool = openStatementPool({ url: database.url, name: 'deadline', connectionsMax: 1, deadlineMs: 1_500 })
  await expect(pool.query('select pg_sleep(5)', [])).rejects.toMatchObject({ code: 'STATEMENT_DEADLINE' })
  expect(await pool.query('select 1 as one', [])).toEqual([{ one: 1 }])
  await pool.close()
})

describe('a connection that ends under a transaction', () => {
  const ENDED = { code: expect.stringMatching(/57P01|CONNECTION_CLOSED|ECONNRESET/) }

  async function endConnections(name: string): Promise<void> {
    const end = 'select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = $1'
    await database.sql.unsafe(end, [name])
  }

  /** Fails if the pool has lost a connection, or if a connection returns the answer to another statement. */
  async function expectWholePool(sql: Sql): Promise<void> {
    const ask = (_: unknown, index: number) => sql.unsafe(`select pg_sleep(0.01), ${index}::integer as n`)
    // Some idle connections may also have been closed. The first statement on such a connection fails, which is allowed here.
    await Promise.allSettled(Array.from({ length: 4 }, ask))
    const rows = await Promise.all(Array.from({ length: 20 }, ask))
    expect(rows.map(([row]) => row?.n)).toEqual(Array.from({ length: 20 }, (_, index) => index))
  }

  test('fails the transaction and its later statements, and the process and the pool keep working', async () => {
    const sql = openDatabase({ url: database.url, name: 'ending', connectionsMax: 2 })
    for (let turn = 0; turn < 5; turn++) {
      const { promise: rejected, resolve: hear } = Promise.withResolvers<void>()
      const { promise: over, resolve: end } = Promise.withResolvers<string[]>()
      const failed = sql.begin(async transaction => {
        await transaction.unsafe('select 1')
        await endConnections('ending')
        await rejected
        const codeOf = (error: { code: string }) => error.code
        const later = [
          await transaction.unsafe('select 2').catch(codeOf),
          await transaction.unsafe('select 3').catch(codeOf),
        ]
        end(later as string[])
      })
      await expect(failed).rejects.toMatchObject(ENDED)
      hear()
      expect(await over).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED'])
    }
    await expectWholePool(sql)
    await sql.end({ timeout: 1 })
  })

  test('fails a statement under way, and the rollback with it', async () => {
    const sql = openDatabase({ url: database.url, name: 'under way', connectionsMax: 2 })
    for (let turn = 0; turn < 5; turn++) {
      let ended: Promise<void> | null = null
      const failed = sql.begin(async transaction => {
        await transaction.unsafe('select 1')
        ended = endConnections('under way')
        await transaction.unsafe('select pg_sleep(20)')
      })
      await expect(failed).rejects.toMatchObject(ENDED)
      await ended
    }
    await expectWholePool(sql)
    await sql.end({ timeout: 1 })
  })

  test('keeps later statements of the dead transaction out of the transaction that gets its connection next', async () => {
    const sql = openDatabase({ url: database.url, name: 'dead', connectionsMax: 1 })
    await sql.unsafe('create table if not exists spoken (word text)')
    const { promise: opened, resolve: open } = Promise.withResolvers<void>()
    const { promise: closed, resolve: close } = Promise.withResolvers<void>()
    const late: unknown[] = []
    const dead = sql.begin(async transaction => {
      await transaction.unsafe('select 1')
      await endConnections('dead')
      await opened
      for (const word of ['late', 'later']) {
        late.push(await transaction.unsafe(`insert into spoken values ('${word}')`).catch(error => error.code))
      }
      close()
    })
    await expect(dead).rejects.toMatchObject(ENDED)
    await sql.begin(async transaction => {
      await transaction.unsafe(`insert into spoken values ('next')`)
      open()
      await closed
      await transaction.unsafe(`insert into spoken values ('last')`)
    })
    expect(late).toEqual(['CONNECTION_CLOSED', 'CONNECTION_CLOSED'])
    expect(await sql.unsafe('select word from spoken order by word')).toEqual([{ word: 'last' }, { word: 'next' }])
    await sql.end({ timeout: 1 })
  })

  test('frees its place in the pool when the connection is reset', async () => {
    const { port: databasePort, hostname } = new URL(database.url)
    const sockets = new Set<Socket>()
    const proxy = createServer(client => {
      const server = connect(Number(databasePort), hostname)
      sockets.add(client)
      for (const [from, to] of [[client, server] as const, [server, client] as const]) {
        from.on('error', () => to.destroy()).on('close', () => to.destroy())
        from.pipe(to)
      }
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const url = new URL(database.url)
    url.hostname = '127.0.0.1'
    url.port = String((proxy.address() as AddressInfo).port)
    const sql = openDatabase({ url: url.href, name: 'reset', connectionsMax: 1 })
    for (let turn = 0; turn < 5; turn++) {
      const failed = sql.begin(async transaction => {
        const waiting = transaction.unsafe('select pg_sleep(20)')
        setTimeout(() => {
          for (const socket of sockets) socket.resetAndDestroy()
        }, 20)
        await waiting
      })
      await expect(failed).rejects.toMatchObject(ENDED)
    }
    await expectWholePool(sql)
    await sql.end({ timeout: 1 })
    proxy.close()
  })
})

test('rows that a statement sent before it failed do not appear in the next answer', async () => {
  const sql = openDatabase({ url: database.url, name: 'rows', connectionsMax: 1 })
  const failing = 'select 1 / (3 - n) as quotient from generate_series(1, 5) n'
  await expect(sql.unsafe(failing, [], { prepare: true })).rejects.toMatchObject({ code: '22012' })
  expect([...(await sql.unsafe('select 7 as seven', [], { prepare: true }))]).toEqual([{ seven: 7 }])
  const behind = [sql.unsafe(failing).execute(), sql.unsafe('select 8 as eight').execute()]
  expect(await Promise.allSettled(behind)).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled', value: [{ eight: 8 }] },
  ])
  await sql.end()
})

test('a copy that ends while its reader is full leaves the connection usable', async () => {
  const sql = openDatabase({ url: database.url, name: 'copy', connectionsMax: 1 })
  // When reading starts, all data and the end of the copy have already arrived. The sizes lie around what the stream can
  // buffer.
  for (let kilobytes = 56; kilobytes <= 136; kilobytes += 8) {
    const copy = `copy (select repeat('x', 1023) from generate_series(1, ${kilobytes})) to stdout`
    const rows = await sql.unsafe(copy).readable()
    rows.read(0)
    await new Promise(resolve => setTimeout(resolve, 20))
    let bytes = 0
    for await (const chunk of rows) bytes += (chunk as Buffer).length
    expect(bytes).toBe(kilobytes * 1_024)
    expect(await sql.unsafe('select 1 as one')).toEqual([{ one: 1 }])
  }
  await sql.end({ timeout: 1 })
})

describe('a pool that is ended leaves no connection behind', () => {
  /** A server that accepts connections and then either resets them, or never reads or answers. */
  async function createBadServer(how: 'silent' | 'resets') {
    const open = new Set<Socket>()
    let accepted = 0
    const server = createServer({ pauseOnConnect: true }, socket => {
      accepted++
      open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)))
      if (how === 'resets') socket.resetAndDestroy()
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const url = `postgres://user:password@127.0.0.1:${port}/none`
    const sql = openDatabase({ url, name: 'ended', connectionsMax: 1, connectTimeoutMs: 600_000 })
    const ask = () => sql.unsafe('select 1').catch(error => error.code)
    async function expectNothingLeft() {
      // Longer than any pause before reconnecting.
      await new Promise(resolve => setTimeout(resolve, 600))
      // If the pool has closed a connection, bytes sent to it cause a reset, which removes the socket from `open`.
      const left = () => {
        for (const socket of open) socket.write('?')
        return open.size
      }
      try {
        await expect.poll(left).toBe(0)
      } finally {
        for (const socket of open) socket.destroy()
        server.close()
      }
    }
    return { server, accepted: () => accepted, sql, ask, expectNothingLeft }
  }

  test('before it connects', async () => {
    const { sql, ask, expectNothingLeft } = await createBadServer('silent')
    const asked = ask()
    await sql.end({ timeout: 0 })
    expect(await asked).toBe('CONNECTION_DESTROYED')
    await expectNothingLeft()
  })

  test('while it signs in', async () => {
    const { server, sql, ask, expectNothingLeft } = await createBadServer('silent')
    const asked = ask()
    await once(server, 'connection')
    await sql.end({ timeout: 0 })
    expect(await asked).toBe('CONNECTION_DESTROYED')
    await expectNothingLeft()
  })

  test('in the pause before it connects again', async () => {
    const { accepted, sql, ask, expectNothingLeft } = await createBadServer('resets')
    // After these failures, the pause before reconnecting is at least a quarter of a second.
    for (let turn = 0; turn < 6; turn++) expect(await ask()).toMatch(/ECONNRESET|CONNECTION_CLOSED/)
    const before = accepted()
    const asked = ask()
    await sql.end({ timeout: 0 })
    expect(await asked).toBe('CONNECTION_DESTROYED')
    await expectNothingLeft()
    expect(accepted()).toBe(before)
  })
})
