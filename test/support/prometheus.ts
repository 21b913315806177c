/**
 * Scrapes gateways and evaluates alert rules as Prometheus does, but on a simulated clock: each round of scrapes counts as
 * fifteen seconds, however long it took, so that `for: 5m` is over after twenty rounds. Timestamps in the metrics are mapped
 * onto that clock.
 */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { parseExposition } from './exposition.ts'
import { evaluate, parseQuery, type Query, SampleStore, secondsOf } from './promql.ts'

const RULES = new URL('../../deploy/prometheus/alerts.yaml', import.meta.url)

export interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export function readRules(): readonly Rule[] {
  const { groups } = parse(readFileSync(RULES, 'utf8')) as { groups: { rules: Rule[] }[] }
  return groups.flatMap(group => group.rules)
}

interface Target {
  readonly instance: string
  readonly url: string
}

const ROUND_S = 15
const TIMEOUT_MS = 20_000

export class Prometheus {
  readonly #store = new SampleStore()
  readonly #rules: readonly { readonly rule: Rule; readonly query: Query }[]
  readonly #targets: readonly Target[]
  /** When each alert's expression became true, on the simulated clock, by rule and labels. */
  readonly #pending = new Map<string, number>()
  readonly #fired = new Set<string>()
  /** When each round began, in seconds since 1970. */
  readonly #rounds: number[] = []
  readonly #pause: () => Promise<unknown>
  #firing: ReadonlySet<string> = new Set()
  #running: Promise<void> | null = null

  /** `pause` resolves when the next round may begin. */
  constructor(targets: readonly Target[], pause: () => Promise<unknown>) {
    this.#targets = targets
    this.#pause = pause
    this.#rules = readRules().map(rule => ({ rule, query: parseQuery(rule.expr) }))
  }

  /** Names of the alerts that are firing. */
  get firing(): ReadonlySet<string> {
    return this.#firing
  }

  /** Names of all alerts that have fired since the start. */
  get fired(): ReadonlySet<string> {
    return this.#fired
  }

  start(): void {
    this.#running = this.#run(() => this.#running !== null)
  }

  async stop(): Promise<void> {
    const running = this.#running
    this.#running = null
    await running
  }

  async #run(isOn: () => boolean): Promise<void> {
    do {
      this.#rounds.push(Date.now() / 1000)
      const at = this.#now()
      await Promise.all(this.#targets.map(target => this.#scrape(target, at)))
      this.#judge(at)
      await this.#pause()
    } while (isOn())
  }

  /** The time on the simulated clock: when the first round began, in seconds since 1970, plus fifteen seconds per round. */
  #now(): number {
    return (this.#rounds[0] as number) + this.#rounds.length * ROUND_S
  }

  /** Converts a timestamp to the simulated clock. Timestamps before the first round stay as they are. */
  #moved(seconds: number): number {
    const passed = this.#rounds.filter(round => round <= seconds).length
    return passed === 0 ? seconds : (this.#rounds[0] as number) + passed * ROUND_S
  }

  async #scrape({ instance, url }: Target, at: number): Promise<void> {
    const text = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) }).then(
      async reply => (reply.ok ? await reply.text() : null),
      () => null,
    )
    const own = { job: 'gateway', instance }
    this.#store.add('up', own, at, text === null ? 0 : 1)
    if (text === null || text === '') return
    for (const [family, { samples }] of parseExposition(text)) {
      const isMoment = /_(timestamp|start_time)_seconds$/.test(family)
      for (const { name, labels, value } of samples) {
        this.#store.add(name, { ...labels, ...own }, at, isMoment ? this.#moved(value) : value)
      }
    }
  }

  #judge(at: number): void {
    const firing = new Set<string>()
    for (const { rule, query } of this.#rules) {
      const held = evaluate(query, this.#store, at).map(({ labels }) => `${rule.alert} ${JSON.stringify(labels)}`)
      for (const key of [...this.#pending.keys()]) {
        if (key.startsWith(`${rule.alert} `) && !held.includes(key)) this.#pending.delete(key)
      }
      for (const key of held) {
        const since = this.#pending.get(key) ?? at
        this.#pending.set(key, since)
        if (at - since < (rule.for === undefined ? 0 : secondsOf(rule.for))) continue
        firing.add(rule.alert)
        this.#fired.add(rule.alert)
      }
    }
    this.#firing = firing
  }
}
