/**
 * Runs the processes of fault tests. Each has its own process group, none is left behind, and the test can tell whether a
 * process exited by itself.
 */

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, openSync, readdirSync, readFileSync } from 'node:fs'

/** Where a process runs and how it is reached: this machine, or one of its network namespaces. */
export interface Host {
  readonly address: string
  /** Command prefix that enters the host's namespace, which requires root. */
  readonly enter: readonly string[]
}

export const HERE: Host = { address: '127.0.0.1', enter: [] }

export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly pid: number
  /** How the process ended; null while it runs. */
  readonly ended: Ended | null
  readonly exit: Promise<Ended>
  /** Sends a signal to the process, but not to its children. */
  signal(signal: NodeJS.Signals): void
}

export interface ChildOptions {
  readonly file: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** File for standard error and standard output. */
  readonly logFile: string
  readonly host?: Host
  readonly onOutput?: (text: string) => void
}

/**
 * Command prefix that makes the kernel kill the program when this process dies, however that happens. Empty without
 * setpriv.
 */
export const TIE: readonly string[] =
  spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0 ? ['setpriv', '--pdeathsig', 'KILL'] : []

const running = new Set<number>()
process.once('exit', () => {
  for (const pid of running) killGroup(pid)
})

export function startChild({ file, args, env, logFile, host = HERE, onOutput }: ChildOptions): Child {
  const log = openSync(logFile, 'a', 0o600)
  const [program, ...rest] = [...TIE, ...host.enter, file, ...args] as [string, ...string[]]
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

/** Sends a signal. Returns false if the process is gone. */
export function sendSignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    return false
  }
}

/** Ids of the running child processes of `pid`. */
export function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === pid)
    .map(Number)
}

function parentOf(processId: string): number {
  try {
    return Number(/^PPid:\s*(\d+)$/m.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1])
  } catch {
    return 0
  }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has already exited.
  }
}
