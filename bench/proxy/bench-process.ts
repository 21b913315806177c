/** Runs one part of the bench (gateway, bare proxy or upstream) in a child process, so that its CPU is measured separately. */

import { fork } from 'node:child_process'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pinnedTo } from './cores.ts'
import type { ProcessReply, ProcessRequest } from './serve-process.ts'

export interface BenchProcess {
  readonly url: string
  readonly pid: number
  /** User and system CPU time in microseconds, reported by the process itself; used on systems without scheduler statistics. */
  cpuMicroseconds(): Promise<number>
  /** Resident memory in bytes, after a garbage collection if it was started with --expose-gc. */
  memoryBytes(): Promise<number>
  /** Sends the process a message; resolves with its reply. */
  send(message: unknown): Promise<string>
  stop(): Promise<void>
}

export interface BenchProcessOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Command-line flags for Node. */
  readonly flags?: readonly string[]
  readonly logFile?: string
  /** Source tree to run; by default, this one. */
  readonly root?: string
  /** Cores to run on, in taskset's syntax; by default, those of this process. */
  readonly cores?: string | null
  /** Stops the process with SIGKILL. Otherwise, a gateway in production mode takes more than a minute to drain. */
  readonly kill?: boolean
}

const ROOT = join(import.meta.dirname, '..', '..')

/** Starts `bench/proxy/<name>.ts`; resolves when it is listening. */
export async function startBenchProcess(
  name: string,
  { environment = {}, flags = [], logFile, root = ROOT, cores = null, kill = false }: BenchProcessOptions = {},
): Promise<BenchProcess> {
  const output = logFile === undefined ? 'inherit' : openSync(logFile, 'a')
  const [program, ...before] = pinnedTo(cores, process.execPath)
  const child = fork(join(root, 'bench', 'proxy', `${name}.ts`), {
    cwd: root,
    execPath: program,
    execArgv: [...before, ...flags],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', output, output, 'ipc'],
  })
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', code => {
      const logEnd = logFile === undefined ? '' : `:\n${readFileSync(logFile, 'utf8').slice(-2_000)}`
      reject(new Error(`the process ${name} exited with code ${code}${logEnd}`))
    })
  })
  gone.catch(() => {})
  const nextReply = () => Promise.race([new Promise<ProcessReply>(resolve => child.once('message', resolve)), gone])
  const request = (message: ProcessRequest): Promise<ProcessReply> => {
    const reply = nextReply()
    child.send(message)
    return reply
  }
  const { url = '' } = await nextReply()
  return {
    url,
    pid: child.pid as number,
    cpuMicroseconds: async () => (await request({ kind: 'cpu' })).cpuMicroseconds ?? 0,
    memoryBytes: async () => (await request({ kind: 'memory' })).memoryBytes ?? 0,
    send: async message => (await request({ kind: 'message', message })).reply ?? '',
    stop: () =>
      new Promise(resolve => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve()
        child.once('exit', () => resolve())
        if (kill) child.kill('SIGKILL')
        else child.send({ kind: 'stop' } satisfies ProcessRequest)
      }),
  }
}
