/** Runs the program as operators do, in a separate process, with its output, signals and exit status. */

import { type ChildProcess, spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'

const MAIN = fileURLToPath(new URL('../../src/start.js', import.meta.url))

export interface Program {
  readonly child: ChildProcess
  readonly url: string
  /** The program's log so far. */
  readonly log: string
  /** Resolves when the log matches the pattern. */
  logged(pattern: RegExp): Promise<void>
  /** Resolves with the exit status, or with the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>
  signal(signal: NodeJS.Signals): void
}

/**
 * Environment of every process that a test starts: none of the caller's variables but PATH, HOME and NODE_COMPILE_CACHE, a
 * cache of compiled code that halves the start-up time of later processes.
 */
export function programEnvironment(): NodeJS.ProcessEnv {
  const { PATH, HOME, NODE_COMPILE_CACHE } = process.env
  return { PATH, HOME, NODE_COMPILE_CACHE }
}

/** Running programs. They are killed when the test that started them ends, however it ends. */
const started = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of started) child.kill('SIGKILL')
})

/** Kills all programs started here that are still running. */
export async function killPrograms(): Promise<void> {
  await Promise.all(
    [...started].map(child => {
      const gone = new Promise(resolve => child.once('exit', resolve))
      child.kill('SIGKILL')
      return gone
    }),
  )
}

const givenPorts = new Set<number>()

/**
 * Finds an unused port below the range from which the kernel assigns ports itself, so that nothing else takes it before the
 * program listens on it, or while that program is being replaced.
 */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 200; tries++) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if (!givenPorts.has(port) && (await isFree(port))) {
      givenPorts.add(port)
      return port
    }
  }
  throw new Error('found no free port')
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
  })
}

/**
 * Starts `serve --json` and waits until it is ready. Rejects with the program's output if it exits first. `main` is the entry
 * point of a copy of the project.
 */
export async function startProgram(
  environment: Readonly<Record<string, string | undefined>>,
  main: string = MAIN,
): Promise<Program> {
  const child = spawn(process.execPath, [main, 'serve', '--json'], {
    env: { ...programEnvironment(), LOG_LEVEL: 'info', ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  child.once('exit', () => started.delete(child))
  let log = ''
  let output = ''
  const listeners = new Set<() => void>()
  child.stderr.on('data', chunk => {
    log += chunk
    for (const listener of listeners) listener()
  })
  const ended = new Promise<number | NodeJS.Signals>(resolve => {
    child.on('exit', (code, signal) => resolve(signal ?? code ?? 0))
  })
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.on('data', chunk => {
      output += chunk
      if (output.includes('\n')) resolve((JSON.parse(output) as { url: string }).url)
    })
    void ended.then(how => reject(new Error(`the program exited with ${how}: ${log}`)))
  })
  return {
    child,
    url,
    get log() {
      return log
    },
    logged: pattern =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(log)) return
          listeners.delete(look)
          resolve()
        }
        listeners.add(look)
        look()
        void ended.then(() => reject(new Error(`the program exited before it logged ${pattern}: ${log}`)))
      }),
    ended,
    signal: signal => void child.kill(signal),
  }
}
