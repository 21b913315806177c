/** Processes of a fault test: each in a group of its own, none left behind, and known whether it ended by itself. */

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { createServer } from 'node:net'

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly pid: number
  /** Null while it runs. */
  readonly ended: Ended | null
  readonly exit: Promise<Ended>
  /** Sends a signal to the process alone. */
  signal(signal: NodeJS.Signals): void
}

export interface ChildOptions {
  readonly file: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** Standard error goes here, and standard output too. */
  readonly logFile: string
  readonly onOutput?: (text: string) => void
}

/** In front of a program: the kernel kills it when this process dies, however it dies. Empty where there is no setpriv. */
export const TIE: readonly string[] =
  spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0 ? ['setpriv', '--pdeathsig', 'KILL'] : []

const running = new Set<number>()
process.once('exit', () => {
  for (const pid of running) killGroup(pid)
})

export function startChild({ file, args, env, logFile, onOutput }: ChildOptions): Child {
  const log = openSync(logFile, 'a', 0o600)
  const [program, ...rest] = [...TIE, file, ...args] as [string, ...string[]]
  const child = spawn(program, rest, { env: { ...env }, stdio: ['ignore', 'pipe', log], detached: true })
  closeSync(log)
  const { pid } = child
  if (pid === undefined) throw new Error(`${file} could not be started`)
  running.add(pid)
  let ended: Ended | null = null
  child.stdout?.on('data', (chunk: Buffer) => {
    appendFileSync(logFile, chunk)
    onOutput?.(chunk.toString('utf8'))
  })
  const exit = new Promise<Ended>(resolve => {
    child.once('exit', (code, signal) => {
      running.delete(pid)
      ended = { code, signal }
      resolve(ended)
    })
  })
  return {
    pid,
    get ended() {
      return ended
    },
    exit,
    signal: name => sendSignal(pid, name),
  }
}

/** Nothing happens to a process that is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

const given = new Set<number>()

/**
 * A port that nothing uses, below those that the kernel gives to outgoing connections: a server that is killed finds
 * it free again, and nobody connects to themselves while it is away.
 */
export async function lowPort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if (!given.has(port) && (await isFree(port))) {
      given.add(port)
      return port
    }
  }
  throw new Error('no free port was found')
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}
