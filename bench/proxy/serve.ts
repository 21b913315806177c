/** Runs a gateway process, started the way an operator would. */

import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { pinnedTo } from './cores.ts'
import { FLAGS } from './world.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

/** Makes the gateway stop at once; in production it drains for more than a minute. */
export const NO_DRAIN = { LIMIT_DRAIN_NOTICE_MS: '0', LIMIT_DRAIN_IDLE_MS: '0' }

export interface Served {
  readonly url: string
  readonly pid: number
  /** Stops the gateway with SIGTERM, which drains it, or kills it. */
  stop(signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

export interface ServeOptions {
  readonly environment: Readonly<Record<string, string>>
  /** Cores to run on, in taskset's syntax; null means those of this process. */
  readonly cores: string | null
  /** Source tree to run; by default, this one. */
  readonly root?: string
}

/** Runs the command `serve` on a free port; resolves when the gateway is ready. */
export async function serve({ environment, cores, root = ROOT }: ServeOptions): Promise<Served> {
  const [program, ...rest] = pinnedTo(cores, process.execPath, ...FLAGS, 'src/start.js', 'serve', '--json')
  const child = spawn(program, rest, {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment, PORT: String(await freePort()) },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const gone = new Promise<void>(resolve => child.once('exit', () => resolve()))
  let printed = ''
  for await (const text of child.stdout.setEncoding('utf8')) {
    printed += text
    if (printed.includes('\n')) break
  }
  const { url } = JSON.parse(printed.split('\n')[0] ?? '') as { url: string }
  const stop: Served['stop'] = (signal = 'SIGTERM') => {
    child.kill(signal)
    return gone
  }
  return { url, pid: child.pid as number, stop }
}

function freePort(): Promise<number> {
  return new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
