/** Builds the C load generator and upstream (`native/`) if there is a compiler, and controls them over stdin and stdout. */

import { execFileSync, spawn } from 'node:child_process'
import { globSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pinnedTo } from './cores.ts'
import type { Call, LoadGenerator } from './load.ts'

/** Builds the program into `folder` and returns its path; null if the build fails. */
export function buildNative(folder: string): string | null {
  const program = join(folder, 'native')
  const sources = globSync('*.c', { cwd: join(import.meta.dirname, 'native') }).map(name =>
    join(import.meta.dirname, 'native', name),
  )
  try {
    execFileSync('cc', ['-O2', '-std=gnu11', '-o', program, ...sources], { stdio: 'ignore' })
    return program
  } catch {
    return null
  }
}

export interface NativeOptions {
  readonly program: string
  readonly mode: 'load' | 'upstream'
  readonly cores: string | null
}

/** A running load generator or upstream, which replies to commands in order. */
export class Native {
  readonly pid: number
  readonly #child
  readonly #waiting: { resolve: (line: string) => void; reject: (error: Error) => void }[] = []

  private constructor({ program, mode, cores }: NativeOptions) {
    const [command, ...rest] = pinnedTo(cores, program, mode)
    this.#child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.pid = this.#child.pid as number
    createInterface(this.#child.stdout).on('line', line => {
      const { resolve, reject } = this.#waiting.shift() ?? {}
      if (line.startsWith('failed ')) reject?.(new Error(line.slice('failed '.length)))
      else resolve?.(line)
    })
    this.#child.once('exit', code => {
      for (const { reject } of this.#waiting.splice(0)) reject(new Error(`the ${mode} exited with code ${code}`))
    })
  }

  /** Starts the program; resolves once it prints its first line, which is returned as `firstLine`. */
  static async start(options: NativeOptions): Promise<{ native: Native; firstLine: string }> {
    const native = new Native(options)
    return { native, firstLine: await native.#nextLine() }
  }

  request(command: string): Promise<string> {
    const reply = this.#nextLine()
    this.#child.stdin.write(`${command}\n`)
    return reply
  }

  #nextLine(): Promise<string> {
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  async stop(): Promise<void> {
    const gone = new Promise<void>(resolve => this.#child.once('exit', () => resolve()))
    this.#child.stdin.end()
    await gone
  }
}

/** Generates load on one address with the C program. */
export class NativeLoadGenerator implements LoadGenerator {
  readonly #native: Native
  readonly #folder: string
  readonly #port: string

  /** `folder` is for files through which the program receives the bytes of each call. */
  constructor(native: Native, { url, folder }: { readonly url: string; readonly folder: string }) {
    this.#native = native
    this.#folder = folder
    this.#port = new URL(url).port
  }

  async drive(
    call: Call,
    { concurrency, milliseconds, spreadMs = 0 }: Parameters<LoadGenerator['drive']>[1],
  ): ReturnType<LoadGenerator['drive']> {
    const spreadUs = Math.round((spreadMs * 1000) / concurrency)
    const reply = await this.#native.request(
      `drive ${this.#port} ${concurrency} ${milliseconds} ${spreadUs} ${this.#argumentsOf(call)}`,
    )
    const [, calls, microseconds] = reply.split(' ').map(Number)
    return { calls: calls as number, seconds: (microseconds as number) / 1e6 }
  }

  async pace(call: Call, { perSecond, milliseconds }: Parameters<LoadGenerator['pace']>[1]): Promise<number[]> {
    const reply = await this.#native.request(
      `pace ${this.#port} ${perSecond} ${milliseconds} ${this.#argumentsOf(call)}`,
    )
    return reply
      .split(' ')
      .slice(1)
      .map(microseconds => Number(microseconds) / 1000)
  }

  async close(): Promise<void> {
    await this.#native.request(`close ${this.#port}`)
  }

  #argumentsOf({ bytes, mark }: Call): string {
    const file = join(this.#folder, `call-${this.#port}`)
    writeFileSync(file, bytes)
    return `${mark ?? '-'} ${file}`
  }
}
