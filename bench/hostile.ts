/**
 * Measures what hostile requests can cost a gateway. For the worst request bodies, measures how long they block the event loop,
 * peak memory, and the p99 latency of ordinary ("honest") calls made at the same time. Sends each body plain and compressed, 1,
 * 12 and 100 times at once, with and without money in the account. Then sends every endpoint the largest bodies that it accepts,
 * and what people without a key can send, and measures the CPU time of a refused call. If noisy neighbours on the host disturb a
 * row, measures it again and prints the least disturbed result. Prints tables, asserts nothing.
 * Run: npm exec node bench/hostile.ts -- [--at-once 1,12,100] [--body start of name] [--parts worst,accepted,strangers,refusals]
 * [--name name in results/]
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'
import { gzipSync } from 'node:zlib'
import { Agent, request } from 'undici'
import { startEmbeddedPostgres } from '../src/app/embedded-postgres.ts'
import { credit } from '../src/ledger/credit.ts'
import { migrate } from '../src/ledger/migrate.ts'
import { openDatabase } from '../src/lib/database.ts'
import { vndToMicro } from '../src/lib/money.ts'
import { gatewayEnvironment, newCustomer } from '../test/replicas/world.ts'
import { freePort, startProgram } from '../test/support/program.ts'
import { bodyOf, type Endpoint, FILLINGS, PATHS, REFUSED } from './hostile/bodies.ts'
import { BANKS, type HostileRequest, STRANGERS } from './hostile/strangers.ts'

const { values: options } = parseArgs({
  options: {
    'at-once': { type: 'string', default: '1,12,100' },
    body: { type: 'string', default: '' },
    parts: { type: 'string', default: 'worst,accepted,strangers,refusals' },
    name: { type: 'string' },
  },
})
const MB = 1024 * 1024
const WORST = ['empty objects', 'short strings', 'nested arrays', 'one string', 'escapes'] as const
const UPSTREAMS = ['ANTHROPIC', 'OPENAI', 'GOOGLE', 'DEEPSEEK', 'ZHIPUAI', 'XAI', 'ALIBABA', 'MOONSHOTAI', 'MINIMAX']

const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-'))
const postgres = await startEmbeddedPostgres({ dataDir: folder })
const sql = openDatabase({ url: postgres.url, name: 'bench', connectionsMax: 2 })
await migrate(sql)
const side = new Worker(new URL('./hostile/side.ts', import.meta.url))
const nextMessage = <Message>() => new Promise<Message>(resolve => side.once('message', resolve))
const provider = (await nextMessage<{ url: string }>()).url
const turnsFile = join(folder, 'longest-turn')
const metricsPort = await freePort()
const given = { port: await freePort(), databaseUrl: postgres.url, dataDir: folder, providerUrl: provider }
const program = await startProgram({
  ...gatewayEnvironment(given),
  ...Object.fromEntries(
    UPSTREAMS.flatMap(name => [
      [`UPSTREAM_${name}_BASE_URL`, provider],
      [`UPSTREAM_${name}_API_KEY`, 'upstream-secret-1'],
    ]),
  ),
  ...BANKS,
  METRICS_PORT: String(metricsPort),
  NODE_OPTIONS: `--import ${new URL('hostile/watch.ts', import.meta.url).href}`,
  HOSTILE_TURNS: turnsFile,
  LOG_LEVEL: 'error',
})
const honest = await newCustomer(sql, 1_000_000_000)
const rich = await newCustomer(sql, 1_000_000_000)
const poor = await newCustomer(sql, 1)
await credit(sql, { accountId: poor.accountId, amountMicroVnd: vndToMicro(-1), kind: 'adjustment', reference: 'back' })
const agent = new Agent({ headersTimeout: 300_000, bodyTimeout: 300_000, connections: null })
side.postMessage({ url: program.url, apiKey: honest.apiKey })

interface Figures {
  readonly blockMs: number
  readonly cpuSeconds: number
}

/** Reads the metrics: the longest block of the event loop since the last reading, and the CPU used so far. */
async function figures(): Promise<Figures> {
  const text = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text()
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1])
  return {
    blockMs: value('nodejs_eventloop_lag_max_seconds') * 1000,
    cpuSeconds: value('process_cpu_seconds_total'),
  }
}

/** Resets the process's peak memory and its longest turn of the event loop. */
function forgetPeaks(): void {
  program.signal('SIGUSR2')
  writeFileSync(`/proc/${program.child.pid}/clear_refs`, '5')
}

function peakBytes(): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${program.child.pid}/status`, 'utf8'))?.[1]) * 1024
}

interface Shot extends HostileRequest {
  readonly atOnce: number
}

function withKey(apiKey: string, coding: 'plain' | 'gzip' = 'plain'): Record<string, string> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  return coding === 'plain' ? headers : { ...headers, 'content-encoding': coding }
}

async function send({ path, headers, body }: HostileRequest): Promise<string> {
  const method = body === null ? 'GET' : 'POST'
  try {
    const reply = await request(program.url + path, { method, headers, body, dispatcher: agent })
    await reply.body.dump()
    return String(reply.statusCode)
  } catch (error) {
    return (error as { code?: string }).code ?? 'error'
  }
}

/** CPU ticks since boot: in total, and stolen by other virtual machines on the host. */
function cpuTicks(): { all: number; stolen: number } {
  const ticks = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/).slice(1, 9).map(Number) ?? []
  return { all: ticks.reduce((sum, value) => sum + value, 0), stolen: ticks[7] ?? 0 }
}

const TRIES = 4
const STOLEN_PERCENT_MAX = 3

async function shoot(shot: Shot): Promise<string[]> {
  const tries: { stolen: number; cells: string[] }[] = []
  do {
    const before = cpuTicks()
    const cells = await shootOnce(shot)
    const after = cpuTicks()
    tries.push({ cells, stolen: ((after.stolen - before.stolen) / Math.max(1, after.all - before.all)) * 100 })
  } while (tries.length < TRIES && (tries.at(-1)?.stolen ?? 0) > STOLEN_PERCENT_MAX)
  const [best] = tries.toSorted((left, right) => left.stolen - right.stolen)
  return best === undefined ? [] : [...best.cells, best.stolen.toFixed(0)]
}

async function shootOnce(shot: Shot): Promise<string[]> {
  side.postMessage('read')
  await nextMessage()
  await figures()
  forgetPeaks()
  const start = performance.now()
  const answers = await Promise.all(Array.from({ length: shot.atOnce }, () => send(shot)))
  const seconds = (performance.now() - start) / 1000
  await sleep(200)
  side.postMessage('read')
  const { p99Ms, failures } = await nextMessage<{ p99Ms: number; failures: number }>()
  const { blockMs } = await figures()
  const counts = Map.groupBy(answers, answer => answer)
  const outcomes = [...counts].map(([answer, same]) =>
    same.length === answers.length ? answer : `${same.length} × ${answer}`,
  )
  return [
    outcomes.join(', '),
    Number(readFileSync(turnsFile, 'utf8')).toFixed(0),
    blockMs.toFixed(0),
    (peakBytes() / MB).toFixed(0),
    seconds.toFixed(1),
    p99Ms.toFixed(0),
    String(failures),
  ]
}

const lines: string[] = []
function print(...cells: readonly string[]): void {
  lines.push(cells.length === 1 ? (cells[0] as string) : `| ${cells.join(' | ')} |`)
  console.log(lines.at(-1))
}

const FIGURES =
  'answer | longest turn, CPU ms | longest block ms | peak MB | seconds | honest p99 ms | honest failures | stolen % |'

async function worstBodies(): Promise<void> {
  print(`| body | coding | at once | money | ${FIGURES}\n|---|---|--:|---|---|--:|--:|--:|--:|--:|--:|--:|`)
  for (const name of WORST.filter(body => body.startsWith(options.body))) {
    const body = bodyOf('messages', 'claude-opus-5', FILLINGS[name]?.() ?? '')
    const bodies = { plain: body, gzip: gzipSync(body) }
    for (const coding of ['plain', 'gzip'] as const) {
      for (const atOnce of options['at-once'].split(',').map(Number)) {
        for (const [money, { apiKey }] of Object.entries({ yes: rich, no: poor })) {
          const shot = { path: PATHS.messages, headers: withKey(apiKey, coding), body: bodies[coding], atOnce }
          print(name, coding, String(atOnce), money, ...(await shoot(shot)))
        }
      }
    }
  }
}

const ROUTES: readonly (readonly [endpoint: Endpoint, model: string, what: string])[] = [
  ['messages', 'claude-opus-5', 'same format'],
  ['messages', 'gpt-5.5', 'converted'],
  ['chat_completions', 'gpt-5.5', 'same format'],
  ['chat_completions', 'claude-opus-5', 'converted'],
  ['responses', 'gpt-5.5', 'same format'],
  ['count_tokens', 'claude-opus-5', ''],
  ['images_generations', 'req/gpt-image-2', 'same format'],
]

async function largestAccepted(): Promise<void> {
  print(`| endpoint | body | ${FIGURES}\n|---|---|---|--:|--:|--:|--:|--:|--:|--:|`)
  for (const [endpoint, model, what] of ROUTES) {
    for (const [name, filling] of Object.entries(FILLINGS)) {
      if (!name.startsWith(options.body) || REFUSED.some(refused => refused === name)) continue
      const body = bodyOf(endpoint, model, filling())
      const shot = { path: PATHS[endpoint], headers: withKey(rich.apiKey), body, atOnce: 1 }
      print(`${endpoint} ${what}`.trim(), name, ...(await shoot(shot)))
    }
  }
}

async function strangers(): Promise<void> {
  print(`| sent without a key | at once | ${FIGURES}\n|---|--:|---|--:|--:|--:|--:|--:|--:|--:|`)
  for (const [name, makeRequest] of Object.entries(STRANGERS)) {
    if (!name.startsWith(options.body)) continue
    const hostile = makeRequest(program.url)
    for (const atOnce of options['at-once'].split(',').map(Number)) {
      print(name, String(atOnce), ...(await shoot({ ...hostile, atOnce })))
    }
  }
}

const REFUSALS = 2000

async function refusals(): Promise<void> {
  print('| refused | answer | CPU µs |\n|---|--:|--:|')
  const body = Buffer.alloc(1000, ' ')
  for (const [name, apiKey] of [
    ['a wrong key', 'sk-svc-wrong'],
    ['an empty wallet', poor.apiKey],
  ] as const) {
    const shot = { path: PATHS.messages, headers: withKey(apiKey), body }
    const status = await send(shot)
    const before = await figures()
    for (let sent = 0; sent < REFUSALS; sent += 20) await Promise.all(Array.from({ length: 20 }, () => send(shot)))
    const after = await figures()
    print(name, status, (((after.cpuSeconds - before.cpuSeconds) * 1e6) / REFUSALS).toFixed(0))
  }
}

const PARTS: Readonly<Record<string, () => Promise<void>>> = {
  worst: worstBodies,
  accepted: largestAccepted,
  strangers,
  refusals,
}
await sleep(2_000)
for (const part of options.parts.split(',')) await PARTS[part]?.()
if (options.name !== undefined) {
  writeFileSync(
    new URL(`results/${options.name}.md`, import.meta.url),
    `${lines.join('\n').replaceAll(/\n(?=\| (?:body|endpoint|sent without a key|refused) )/g, '\n\n')}\n`,
  )
}
program.signal('SIGTERM')
await program.ended
if (program.log !== '') console.log(program.log.slice(0, 4000))
await side.terminate()
await agent.destroy()
await sql.end({ timeout: 5 })
await postgres.stop()
rmSync(folder, { recursive: true, force: true })
