/** Finds, starts and stops one postmaster. Callers must hold the data directory's start lock. */

import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Runner } from './identity.ts'

const POLL_MS = 15
const LOG_TAIL_BYTES = 2_000

export interface Postmaster {
  readonly processId: number
  readonly port: number
  readonly ready: boolean
}

export interface StartOptions {
  readonly run: Runner
  readonly postgres: string
  readonly dataDirectory: string
  readonly logFile: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

/** The contents of postmaster.pid, if that process is alive and serves this very directory; a stale file is ignored. */
export function findPostmaster(dataDirectory: string): Postmaster | null {
  let lines: string[]
  try {
    lines = readFileSync(join(dataDirectory, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    return null
  }
  const processId = Number(lines[0])
  if (!Number.isSafeInteger(processId) || processId <= 0) return null
  if (!isAlive(processId) || !serves(processId, dataDirectory)) return null
  return { processId, port: Number(lines[3]), ready: lines[7]?.trim() === 'ready' }
}

/**
 * Starts the server in its own session, so that Ctrl-C in a terminal reaches the gateway but not Postgres. Resolves
 * when it is ready; if that takes longer than `timeoutMs`, throws with the end of its log.
 */
export async function startPostmaster(options: StartOptions): Promise<Postmaster> {
  const deadline = performance.now() + options.timeoutMs
  for (;;) {
    const { exited } = launch(options)
    while (!exited() && performance.now() < deadline) {
      const found = findPostmaster(options.dataDirectory)
      if (found?.ready === true) return found
      await sleep(POLL_MS)
    }
    const log = tail(options.logFile)
    // A backend that was busy when its postmaster was killed lives on and keeps the shared memory in use.
    if (!/shared memory block .* is still in use/.test(log) || performance.now() > deadline) {
      throw new Error(`The embedded Postgres did not start; the end of ${options.logFile} says:\n${log}`)
    }
    for (const processId of findOrphans(options.dataDirectory)) sendSignal(processId, 'SIGKILL')
    await sleep(200)
  }
}

function launch(options: StartOptions): { exited: () => boolean } {
  // Postgres handles a stale lock file itself, unless another process of the same user now has that pid.
  if (findPostmaster(options.dataDirectory) === null)
    rmSync(join(options.dataDirectory, 'postmaster.pid'), { force: true })
  const settings = Object.entries(options.settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const invocation = options.run(options.postgres, [
    '-D',
    options.dataDirectory,
    '-p',
    String(options.port),
    ...settings,
  ])
  const log = openSync(options.logFile, 'w', 0o600)
  const child = spawn(invocation.file, invocation.args, {
    ...(invocation.uid === undefined ? {} : { uid: invocation.uid }),
    ...(invocation.gid === undefined ? {} : { gid: invocation.gid }),
    cwd: '/',
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['ignore', log, log],
    detached: true,
  })
  closeSync(log)
  let exited = false
  child.once('error', () => {
    exited = true
  })
  child.once('exit', () => {
    exited = true
  })
  child.unref()
  return { exited: () => exited }
}

/**
 * Stops the server: first by a fast shutdown, after `timeoutMs` by an immediate shutdown, and after another `timeoutMs` by
 * killing the whole process group. Leaves nothing running.
 */
export async function stopPostmaster(dataDirectory: string, { timeoutMs }: { timeoutMs: number }): Promise<void> {
  const running = findPostmaster(dataDirectory)
  if (running === null) return
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    sendSignal(signal === 'SIGKILL' ? -running.processId : running.processId, signal)
    const deadline = performance.now() + timeoutMs
    while (performance.now() < deadline) {
      if (!isAlive(running.processId)) return
      await sleep(POLL_MS)
    }
  }
  throw new Error(`The embedded Postgres (process ${running.processId}) could not be stopped`)
}

function sendSignal(processId: number, signal: NodeJS.Signals): void {
  try {
    process.kill(processId, signal)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error
  }
}

function isAlive(processId: number): boolean {
  try {
    process.kill(processId, 0)
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
  // Signal 0 also reaches a zombie: a process that has ended but is still listed, as happens in a container without init.
  const status = readProcess(processId, 'stat')
  return status === null || !/\) Z /.test(status)
}

/** Processes still working in the data directory after their postmaster has died; empty on systems without /proc. */
function findOrphans(dataDirectory: string): number[] {
  if (findPostmaster(dataDirectory) !== null || !existsSync('/proc/self/cwd')) return []
  const directory = realpathSync(dataDirectory)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && workingDirectory(name) === directory)
    .map(Number)
}

function workingDirectory(processId: string): string | null {
  try {
    return readlinkSync(`/proc/${processId}/cwd`)
  } catch {
    return null
  }
}

/** Whether the process is the server of `dataDirectory`. If that server has died, its pid may now belong to another process. */
function serves(processId: number, dataDirectory: string): boolean {
  const command = readProcess(processId, 'cmdline')
  return command === null || command.split('\0').includes(dataDirectory)
}

/**
 * Reads a file in `/proc/<pid>`. For a process that no longer exists, returns what `/proc` would show for a zombie: state Z in
 * `stat`, an empty `cmdline`. Null on systems without `/proc`.
 */
function readProcess(processId: number, file: 'stat' | 'cmdline'): string | null {
  if (!existsSync('/proc/self/stat')) return null
  try {
    return readFileSync(`/proc/${processId}/${file}`, 'utf8')
  } catch {
    return file === 'stat' ? '0 (gone) Z ' : ''
  }
}

function tail(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(-LOG_TAIL_BYTES).trim()
  } catch {
    return '(no log)'
  }
}
