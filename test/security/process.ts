/** Runs the gateway as a separate process, as in production, so that tests can read its output and memory use. */

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createAccount } from '../../src/accounts/accounts.ts'
import { createKey } from '../../src/accounts/keys.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { credit } from '../../src/ledger/credit.ts'
import { microVnd } from '../../src/lib/money.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { createTestDatabase, type TestDatabase } from '../support/postgres.ts'
import { programEnvironment } from '../support/program.ts'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

export interface GatewayProcess {
  readonly url: string
  readonly pid: number
  readonly dataDir: string
  readonly database: TestDatabase
  /** Everything that the process has written to stdout and stderr. */
  output(): string
  /** Creates an account with money and a key. */
  account(email: string): Promise<{ accountId: number; apiKey: string }>
  /** Sends bytes on a new connection, and returns everything received once the gateway has closed it. */
  exchange(...parts: readonly (string | Uint8Array)[]): Promise<string>
  /** The process's resident memory in bytes, now and at its peak. */
  memory(): { readonly now: number; readonly peak: number }
  isUp(): boolean
  /** Sends SIGTERM; resolves with the exit status. */
  stop(): Promise<number | null>
  /** Stops the process if it is still running, and deletes its data folder and database. */
  close(): Promise<void>
}

export interface ProcessOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** A module to load before the gateway starts (`node --import`). */
  readonly preload?: URL
  /** Receives the database's URL and returns the URL for the gateway to use, for example that of a relay to the database. */
  readonly databaseUrl?: (url: string) => Promise<string>
}

export async function startProcess(options: ProcessOptions = {}): Promise<GatewayProcess> {
  const { environment = {}, preload, databaseUrl = async (url: string) => url } = options
  const database = await createTestDatabase()
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-security-'))
  const [peppers, encryptionKeys] = [generateSecretSet(), generateSecretSet()]
  const child = spawn(
    process.execPath,
    [...(preload === undefined ? [] : ['--import', preload.href]), MAIN, 'serve', '--json'],
    {
      env: {
        ...programEnvironment(),
        PORT: '0',
        DATA_DIR: dataDir,
        DATABASE_URL: await databaseUrl(database.url),
        KEY_PEPPERS: peppers,
        KEY_ENCRYPTION_KEYS: encryptionKeys,
        // Do not wait for the idle connections of a test's client when stopping.
        LIMIT_DRAIN_IDLE_MS: '0',
        ...environment,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  const exited = new Promise<number | null>(resolve => child.on('exit', resolve))
  let output = ''
  const url = await readyUrl(child, text => {
    output += text
  })
  const secrets = {
    service: TABLES.settings.service,
    peppers: parseSecretSet('KEY_PEPPERS', peppers),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', encryptionKeys),
  }
  const isUp = () => child.exitCode === null && child.signalCode === null
  const stop = () => {
    if (isUp()) child.kill('SIGTERM')
    return exited
  }
  return {
    url,
    pid: child.pid as number,
    dataDir,
    database,
    output: () => output,
    isUp,
    stop,
    async account(email) {
      const { accountId } = await createAccount(database.sql, email)
      const { key } = await createKey(database.sql, secrets, { accountId })
      const amountMicroVnd = microVnd(10n ** 15n)
      await credit(database.sql, { accountId, amountMicroVnd, kind: 'adjustment', reference: `test ${email}` })
      return { accountId, apiKey: key }
    },
    exchange: (...parts) => exchange(url, parts),
    memory: () => memoryOf(child.pid as number),
    async close() {
      await stop()
      await database.drop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Waits for the line that `serve --json` prints when it is ready, and returns the URL in it. */
function readyUrl(child: ChildProcess, keep: (text: string) => void): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const read = (chunk: Buffer) => {
      keep(chunk.toString())
      text += chunk.toString()
      const url = /"ready":true,"url":"([^"]+)"/.exec(text)?.[1]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', read)
    child.stderr?.on('data', read)
    child.on('exit', () => reject(new Error(text)))
  })
}

function exchange(url: string, parts: readonly (string | Uint8Array)[]): Promise<string> {
  const { port, hostname } = new URL(url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', chunk => {
      answer += chunk.toString('latin1')
    })
    // The gateway may close the connection while this client is still writing. Return what was received until then.
    socket.on('error', error => ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED' ? reject(error) : undefined))
    socket.on('close', () => resolve(answer))
  })
}

function memoryOf(pid: number): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const bytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) * 1024
  return { now: bytes('VmRSS'), peak: bytes('VmHWM') }
}
