/** A child process with one role, whose CPU is its own: started, asked for its CPU and memory, told to stop. */

import { fork } from 'node:child_process'
import { openSync } from 'node:fs'
import { join } from 'node:path'

export interface Role {
  readonly url: string
  readonly pid: number
  /** CPU time used so far, in microseconds, user and system. */
  cpuMicroseconds(): Promise<number>
  /** Resident memory in bytes, after a collection of garbage where the role was started with --expose-gc. */
  memoryBytes(): Promise<number>
  /** Tells the role something; it answers when it has taken note. */
  tell(message: unknown): Promise<void>
  stop(): Promise<void>
}

export interface RoleOptions {
  readonly environment?: Readonly<Record<string, string>>
  /** Flags of Node, for profiles. */
  readonly flags?: readonly string[]
  /** File that takes what the role logs. */
  readonly logFile?: string
  /** Tree of sources; absent: this one. */
  readonly root?: string
}

interface Answer {
  readonly url?: string
  readonly cpuMicroseconds?: number
  readonly memoryBytes?: number
}

const ROOT = join(import.meta.dirname, '..', '..')

/** Starts `bench/proxy/<name>.ts`; resolves when it listens. */
export async function startRole(
  name: string,
  { environment = {}, flags = [], logFile, root = ROOT }: RoleOptions = {},
): Promise<Role> {
  const output = logFile === undefined ? 'inherit' : openSync(logFile, 'a')
  const child = fork(join(root, 'bench', 'proxy', `${name}.ts`), {
    cwd: root,
    execArgv: [...flags],
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', output, output, 'ipc'],
  })
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', code => reject(new Error(`the role ${name} ended with code ${code}`)))
  })
  gone.catch(() => {})
  const answer = () => Promise.race([new Promise<Answer>(resolve => child.once('message', resolve)), gone])
  const ask = (message: object): Promise<Answer> => {
    const answered = answer()
    child.send(message)
    return answered
  }
  const { url = '' } = await answer()
  return {
    url,
    pid: child.pid as number,
    cpuMicroseconds: async () => (await ask({ ask: 'cpu' })).cpuMicroseconds ?? 0,
    memoryBytes: async () => (await ask({ ask: 'memory' })).memoryBytes ?? 0,
    tell: async message => void (await ask({ ask: 'tell', message })),
    stop: () =>
      new Promise(resolve => {
        child.once('exit', () => resolve())
        child.send({ ask: 'stop' })
      }),
  }
}

export interface RoleDuties {
  readonly url: string
  readonly told?: (message: unknown) => void | Promise<void>
  readonly stop: () => Promise<void>
}

/** What a role calls once it listens. */
export function serveRole({ url, told, stop }: RoleDuties): void {
  process.on('message', async (asked: { ask: 'cpu' | 'memory' | 'tell' | 'stop'; message?: unknown }) => {
    switch (asked.ask) {
      case 'cpu': {
        const { user, system } = process.cpuUsage()
        process.send?.({ cpuMicroseconds: user + system })
        return
      }
      case 'memory':
        globalThis.gc?.()
        process.send?.({ memoryBytes: process.memoryUsage.rss() })
        return
      case 'tell':
        await told?.(asked.message)
        process.send?.({})
        return
      case 'stop':
        void stop().then(() => process.exit(0))
    }
  })
  process.send?.({ url })
}
