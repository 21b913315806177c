/** Runs gateways as operators do: `serve` in a separate process, which keeps its data folder and port when it is restarted. */

import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort, programEnvironment } from '../../support/program.ts'
import { type Child, type Ended, HERE, type Host, startChild } from './child.ts'

const LAST_WORDS = 1_500
const MAIN = fileURLToPath(new URL('../../../src/start.js', import.meta.url))

/** One run of a gateway process, from start to exit. Times are in milliseconds since 1970. */
export interface ProcessRun {
  readonly startedAt: number
  readyAt: number | null
  endedAt: number | null
  /** When the test sent SIGKILL. The gateway stopped working then, even if a busy machine reports its exit much later. */
  killedAt: number | null
  /** When the test sent the last health check that the gateway answered. The gateway's event loop was still running then. */
  answeredFrom: number | null
  ended: Ended | null
  /** Whether a signal from the test ended the process. */
  wanted: boolean
  /** The last part of the log, if the process exited unexpectedly. */
  lastWords: string
}

export interface GatewayOptions {
  readonly name: string
  /** Folder for the gateway's data folder and its log. */
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  /** Path of the program to run, such as one in a copy of the project. Defaults to this project's `src/start.js`. */
  readonly main?: string
  readonly host?: Host
}

export class GatewayProcess {
  readonly name: string
  readonly dataDir: string
  readonly logFile: string
  readonly runs: ProcessRun[] = []
  readonly port: number
  /** Environment variables to add at the next start. */
  extra: Readonly<Record<string, string>> = {}
  /** Path of the program that the next start runs. */
  main: string
  readonly #environment: Readonly<Record<string, string>>
  readonly #host: Host
  #child: Child | null = null

  private constructor({ name, folder, environment, main = MAIN, host = HERE }: GatewayOptions, port: number) {
    this.name = name
    this.dataDir = join(folder, name)
    this.logFile = join(folder, `${name}.log`)
    this.port = port
    this.#environment = environment
    this.main = main
    this.#host = host
    mkdirSync(this.dataDir, { recursive: true })
  }

  static async create(options: GatewayOptions): Promise<GatewayProcess> {
    return new GatewayProcess(options, await freePort())
  }

  get url(): string {
    return `http://${this.#host.address}:${this.port}`
  }

  get lastRun(): ProcessRun | undefined {
    return this.runs.at(-1)
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  get ready(): boolean {
    const run = this.lastRun
    return run !== undefined && run.readyAt !== null && run.endedAt === null
  }

  get running(): boolean {
    return this.lastRun !== undefined && this.lastRun.endedAt === null
  }

  /** Starts the gateway. Resolves with true once it accepts calls, or with false if it exits first. */
  start(): Promise<boolean> {
    const run: ProcessRun = {
      startedAt: Date.now(),
      readyAt: null,
      endedAt: null,
      killedAt: null,
      answeredFrom: null,
      ended: null,
      wanted: false,
      lastWords: '',
    }
    this.runs.push(run)
    return new Promise(resolve => {
      const child = startChild({
        file: process.execPath,
        args: [this.main, 'serve', '--json'],
        env: {
          ...programEnvironment(),
          NODE_ENV: 'production',
          COMPANY_NAME: 'SVC',
          COMPANY_ADDRESS: 'Hà Nội',
          COMPANY_TAX_CODE: '0302712571',
          SUPPORT_EMAIL: 'help@example.com',
          HOST: this.#host.address,
          PORT: String(this.port),
          PUBLIC_URL: this.url,
          DATA_DIR: this.dataDir,
          LOG_LEVEL: 'info',
          ...this.#environment,
          ...this.extra,
        },
        logFile: this.logFile,
        host: this.#host,
        onOutput(text) {
          if (!text.includes('"ready":true')) return
          run.readyAt = Date.now()
          resolve(true)
        },
      })
      this.#child = child
      void child.exit.then(ended => {
        run.ended = ended
        run.endedAt = Date.now()
        if (!run.wanted) run.lastWords = readFileSync(this.logFile, 'utf8').slice(-LAST_WORDS)
        resolve(false)
      })
    })
  }

  /** Sends a signal; resolves when the gateway has exited. Does nothing if it is not running. */
  async signal(signal: 'SIGKILL' | 'SIGTERM'): Promise<Ended | null> {
    const run = this.lastRun
    if (this.#child === null || run === undefined || run.endedAt !== null) return null
    run.wanted = true
    if (signal === 'SIGKILL') run.killedAt = Date.now()
    this.#child.signal(signal)
    return this.#child.exit
  }

  /** Sends a health check, and records whether the gateway answered; never rejects. */
  async probe(): Promise<void> {
    const run = this.lastRun
    if (run === undefined || !this.ready) return
    const askedAt = Date.now()
    const answer = await fetch(`${this.url}/healthz`, { signal: AbortSignal.timeout(10_000) }).catch(() => null)
    await answer?.arrayBuffer().catch(() => null)
    if (answer !== null && run.killedAt === null) run.answeredFrom = askedAt
  }

  /** Pauses or resumes the process, or sends it another signal that does not end it. */
  poke(signal: 'SIGSTOP' | 'SIGCONT' | 'SIGUSR2' | 'SIGHUP'): void {
    this.#child?.signal(signal)
  }
}
