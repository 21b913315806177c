/** Prometheus metrics, and the text that a scrape returns. Counting a value costs nanoseconds. */

export type Labels = Readonly<Record<string, string>>

/** One labelled value of a metric family. */
export interface Sample {
  readonly labels: Labels
  readonly value: number
  /** Suffix of the metric's name, for the parts of a histogram. */
  readonly suffix?: '_bucket' | '_sum' | '_count'
}

export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly samples: readonly Sample[]
}

/** Counts values in buckets, each with an upper bound. */
export class Histogram {
  readonly #bounds: readonly number[]
  readonly #counts: Float64Array
  #sum = 0
  #count = 0

  /** `bounds` must ascend. Values above the last bound only count in the `+Inf` bucket. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
    this.#counts = new Float64Array(bounds.length)
  }

  get count(): number {
    return this.#count
  }

  observe(value: number): void {
    this.#sum += value
    this.#count++
    for (let index = 0; index < this.#bounds.length; index++) {
      if (value > (this.#bounds[index] as number)) continue
      this.#counts[index] = (this.#counts[index] as number) + 1
      return
    }
  }

  samples(labels: Labels = {}): Sample[] {
    let below = 0
    const buckets = this.#bounds.map((bound, index): Sample => {
      below += this.#counts[index] as number
      return { labels: { ...labels, le: String(bound) }, value: below, suffix: '_bucket' }
    })
    return [
      ...buckets,
      { labels: { ...labels, le: '+Inf' }, value: this.#count, suffix: '_bucket' },
      { labels, value: this.#sum, suffix: '_sum' },
      { labels, value: this.#count, suffix: '_count' },
    ]
  }
}

/** A single value without labels, or a value for each set of labels. */
type Values = number | Iterable<readonly [Labels, number]>

function samplesOf(values: Values): readonly Sample[] {
  if (typeof values === 'number') return [{ labels: {}, value: values }]
  return Array.from(values, ([labels, value]) => ({ labels, value }))
}

/** A family whose values only grow; its name must end in `_total`. */
export function counter(name: string, help: string, values: Values): Family {
  return { name, help, type: 'counter', samples: samplesOf(values) }
}

export function gauge(name: string, help: string, values: Values): Family {
  return { name, help, type: 'gauge', samples: samplesOf(values) }
}

export function histogram(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, help, type: 'histogram', samples }
}

/** Media type of the text that `writeExposition` returns. */
export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

/** Writes families in Prometheus' text format, version 0.0.4. Every sample also gets the `common` labels. */
export function writeExposition(families: Iterable<Family>, common: Labels = {}): string {
  let text = ''
  for (const { name, help, type, samples } of families) {
    text += `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n# TYPE ${name} ${type}\n`
    for (const { labels, value, suffix = '' } of samples) {
      text += `${name}${suffix}${labelText(common, labels)} ${valueText(value)}\n`
    }
  }
  return text
}

function labelText(common: Labels, labels: Labels): string {
  let text = ''
  for (const each of [common, labels]) {
    for (const name in each) text += `${text === '' ? '' : ','}${name}="${escapeValue(each[name] as string)}"`
  }
  return text === '' ? '' : `{${text}}`
}

const NEEDS_ESCAPING = /["\\\n]/

function escapeValue(value: string): string {
  if (!NEEDS_ESCAPING.test(value)) return value
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function valueText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return '+Inf'
  return value === Number.NEGATIVE_INFINITY ? '-Inf' : String(value)
}

/**
 * Merges the expositions of several processes into one, in which each family occurs only once, as Prometheus requires. Samples
 * of different processes must differ in a label, such as the worker's number.
 */
export function mergeExpositions(texts: Iterable<string>): string {
  const heads = new Map<string, string>()
  const samples = new Map<string, string>()
  for (const text of texts) {
    for (const family of text.split(/^(?=# HELP )/m)) {
      const found = /^# HELP (\S+).*\n# TYPE .*\n/.exec(family)
      if (found === null) continue
      const [head, name = ''] = found
      if (!heads.has(name)) heads.set(name, head)
      samples.set(name, (samples.get(name) ?? '') + family.slice(head.length))
    }
  }
  return [...heads].map(([name, head]) => head + samples.get(name)).join('')
}
