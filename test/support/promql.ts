/**
 * Evaluates the part of PromQL that the alert rules use, over samples in memory; throws for anything else. As in Prometheus, a
 * comparison keeps the samples for which it is true, and a selector finds the newest sample of the last five minutes.
 */

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  readonly labels: Labels
  readonly value: number
}

interface Point {
  readonly at: number
  readonly value: number
}

interface Line {
  readonly labels: Labels
  readonly points: Point[]
}

const LOOK_BACK_S = 300

/** Samples by metric name, with their times in seconds. */
export class SampleStore {
  readonly #lines = new Map<string, Map<string, Line>>()

  add(name: string, labels: Labels, at: number, value: number): void {
    const byLabels = this.#lines.get(name) ?? new Map<string, Line>()
    this.#lines.set(name, byLabels)
    const key = keyOf(labels)
    const line = byLabels.get(key) ?? { labels, points: [] }
    byLabels.set(key, line)
    line.points.push({ at, value })
  }

  /** Returns the points with `from < at <= to`, by matching series. Series without such points are left out. */
  between(name: string, matches: (labels: Labels) => boolean, { from, to }: { from: number; to: number }): Line[] {
    return [...(this.#lines.get(name)?.values() ?? [])]
      .filter(({ labels }) => matches(labels))
      .map(({ labels, points }) => ({ labels, points: points.filter(({ at }) => at > from && at <= to) }))
      .filter(({ points }) => points.length > 0)
  }
}

type Value = number | readonly Sample[]
/** A parsed query. Called with a time in seconds, it returns its value at that time, from the samples in the store. */
export type Query = (store: SampleStore, at: number) => Value
type Range = (store: SampleStore, at: number) => readonly Line[]

/** Evaluates a query at a time; a number becomes a sample without labels. */
export function evaluate(query: Query, store: SampleStore, at: number): readonly Sample[] {
  const value = query(store, at)
  return typeof value === 'number' ? [{ labels: {}, value }] : value
}

export function parseQuery(text: string): Query {
  const parser = new Parser(text)
  const query = parser.expression(0)
  parser.end()
  return query
}

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.]))|(\d+[smhdw])|([a-zA-Z_:][\w:]*)|(=~|!~|!=|==|>=|<=|[-+*/<>=(){}[\],]))/y
/** Precedence of each operator. */
const STRENGTH: Readonly<Record<string, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  ...{ '==': 3, '!=': 3, '>': 3, '<': 3, '>=': 3, '<=': 3 },
  ...{ '+': 4, '-': 4 },
  ...{ '*': 5, '/': 5 },
}
const AGGREGATES: Readonly<Record<string, (values: readonly number[]) => number>> = {
  sum: values => values.reduce((sum, value) => sum + value, 0),
  max: values => Math.max(...values),
  min: values => Math.min(...values),
  count: values => values.length,
  avg: values => values.reduce((sum, value) => sum + value, 0) / values.length,
}
const OVER_TIME: Readonly<Record<string, (points: readonly Point[]) => number | null>> = {
  rate: points => (points.length < 2 ? null : growth(points) / spanOf(points)),
  increase: points => (points.length < 2 ? null : growth(points)),
  changes: points => points.filter(({ value }, index) => index > 0 && value !== points[index - 1]?.value).length,
  avg_over_time: points => AGGREGATES.avg!(points.map(({ value }) => value)),
  min_over_time: points => Math.min(...points.map(({ value }) => value)),
  max_over_time: points => Math.max(...points.map(({ value }) => value)),
}

class Parser {
  readonly #tokens: string[] = []
  #at = 0

  constructor(text: string) {
    TOKEN.lastIndex = 0
    const rest = text.trimEnd()
    while (TOKEN.lastIndex < rest.length) {
      const { lastIndex } = TOKEN
      const found = TOKEN.exec(rest)
      if (found === null) throw new Error(`cannot read the query from here: ${rest.slice(lastIndex)}`)
      this.#tokens.push(found[0].trim())
    }
  }

  end(): void {
    if (this.#at < this.#tokens.length) throw new Error(`cannot read: ${this.#tokens.slice(this.#at).join(' ')}`)
  }

  expression(above: number): Query {
    let left = this.#operand()
    for (;;) {
      const operator = this.#next ?? ''
      const strength = STRENGTH[operator] ?? 0
      if (strength <= above) return left
      this.#at++
      const on = this.#take('on') ? this.#names() : null
      const right = this.expression(strength)
      const one = left
      left = (store, at) => combine(operator, on, one(store, at), right(store, at))
    }
  }

  get #next(): string | undefined {
    return this.#tokens[this.#at]
  }

  #take(token: string): boolean {
    if (this.#next !== token) return false
    this.#at++
    return true
  }

  #expect(token: string): void {
    if (!this.#take(token)) throw new Error(`expected ${token} instead of ${this.#next}`)
  }

  #operand(): Query {
    const token = this.#tokens[this.#at++] ?? ''
    if (token === '(') return this.#inBrackets()
    if (/^\d/.test(token)) return () => Number(token)
    if (token === 'time' && this.#take('(') && this.#take(')')) return (_store, at) => at
    if (token === 'absent' || token === 'vector') {
      const inner = this.#argument()
      if (token === 'vector') return (store, at) => evaluate(inner, store, at)
      return (store, at) => (evaluate(inner, store, at).length === 0 ? [{ labels: {}, value: 1 }] : [])
    }
    if (token === 'histogram_quantile') return this.#quantile()
    const aggregate = AGGREGATES[token]
    if (aggregate !== undefined) return this.#aggregate(aggregate)
    const overTime = OVER_TIME[token]
    if (overTime !== undefined) {
      this.#expect('(')
      const range = this.#range()
      this.#expect(')')
      return (store, at) =>
        range(store, at).flatMap(({ labels, points }) => {
          const value = overTime(points)
          return value === null ? [] : [{ labels, value }]
        })
    }
    return this.#selector(token)
  }

  #inBrackets(): Query {
    const inner = this.expression(0)
    this.#expect(')')
    return inner
  }

  #argument(): Query {
    this.#expect('(')
    return this.#inBrackets()
  }

  #aggregate(pick: (values: readonly number[]) => number): Query {
    let names = this.#take('by') ? this.#names() : null
    const inner = this.#argument()
    if (names === null && this.#take('by')) names = this.#names()
    const kept = names ?? []
    return (store, at) => {
      const groups = Map.groupBy(evaluate(inner, store, at), ({ labels }) => keyOf(only(labels, kept)))
      return [...groups.values()].map(samples => ({
        labels: only(samples[0]!.labels, kept),
        value: pick(samples.map(({ value }) => value)),
      }))
    }
  }

  /** Parses `histogram_quantile`. Returns the upper bound of the quantile's bucket, where Prometheus would interpolate. */
  #quantile(): Query {
    this.#expect('(')
    const share = Number(this.#tokens[this.#at++])
    this.#expect(',')
    const inner = this.#inBrackets()
    return (store, at) => {
      const others = ({ le: _, ...labels }: Labels) => labels
      const groups = Map.groupBy(evaluate(inner, store, at), ({ labels }) => keyOf(others(labels)))
      return [...groups.values()].flatMap(samples => {
        const buckets = samples
          .map(({ labels, value }) => ({ le: labels.le === '+Inf' ? Infinity : Number(labels.le), value }))
          .sort((one, other) => one.le - other.le)
        const rank = share * (buckets.at(-1)?.value ?? 0)
        const found = buckets.find(({ value }) => value >= rank)
        return rank === 0 || found === undefined ? [] : [{ labels: others(samples[0]!.labels), value: found.le }]
      })
    }
  }

  #names(): string[] {
    this.#expect('(')
    const names: string[] = []
    while (!this.#take(')')) {
      names.push(this.#tokens[this.#at++] ?? '')
      this.#take(',')
    }
    return names
  }

  #selector(name: string): Query {
    const { matches, offset } = this.#matchersOf(name)
    return (store, at) =>
      store
        .between(name, matches, { from: at - offset - LOOK_BACK_S, to: at - offset })
        .map(({ labels, points }) => ({ labels, value: points.at(-1)!.value }))
  }

  #range(): Range {
    const name = this.#tokens[this.#at++] ?? ''
    const { matches, offset, range } = this.#matchersOf(name)
    if (range === null) throw new Error(`${name} needs a range`)
    return (store, at) => store.between(name, matches, { from: at - offset - range, to: at - offset })
  }

  #matchersOf(name: string) {
    if (!/^[a-z_]\w*$/.test(name)) throw new Error(`${name} is not a metric`)
    const tests: ((labels: Labels) => boolean)[] = []
    if (this.#take('{')) {
      while (!this.#take('}')) {
        const label = this.#tokens[this.#at++] ?? ''
        const operator = this.#tokens[this.#at++] ?? ''
        const wanted = JSON.parse(this.#tokens[this.#at++] ?? '') as string
        tests.push(labels => matchesLabel(labels[label] ?? '', operator, wanted))
        this.#take(',')
      }
    }
    let range: number | null = null
    if (this.#take('[')) {
      range = secondsOf(this.#tokens[this.#at++] ?? '')
      this.#expect(']')
    }
    const offset = this.#take('offset') ? secondsOf(this.#tokens[this.#at++] ?? '') : 0
    return { matches: (labels: Labels) => tests.every(test => test(labels)), offset, range }
  }
}

function matchesLabel(value: string, operator: string, wanted: string): boolean {
  if (operator === '=') return value === wanted
  if (operator === '!=') return value !== wanted
  const fits = new RegExp(`^(?:${wanted})$`).test(value)
  return operator === '=~' ? fits : !fits
}

export function secondsOf(duration: string): number {
  const [, count, unit = ''] = /^(\d+)([smhdw])$/.exec(duration) ?? []
  const seconds = { s: 1, m: 60, h: 3_600, d: 86_400, w: 604_800 }[unit]
  if (seconds === undefined) throw new Error(`${duration} is not a duration`)
  return Number(count) * seconds
}

function combine(operator: string, on: readonly string[] | null, left: Value, right: Value): Value {
  const isSet = operator === 'and' || operator === 'or' || operator === 'unless'
  const matchKey = ({ labels }: Sample) => keyOf(on === null ? labels : only(labels, on))
  const [ones, others] = [left, right].map(value => (typeof value === 'number' ? null : value))
  if (isSet) {
    const keys = new Set((others ?? []).map(matchKey))
    if (operator === 'or') {
      const known = new Set((ones ?? []).map(matchKey))
      return [...(ones ?? []), ...(others ?? []).filter(sample => !known.has(matchKey(sample)))]
    }
    return (ones ?? []).filter(sample => keys.has(matchKey(sample)) === (operator === 'and'))
  }
  if (ones === null && others === null) return calculate(operator, left as number, right as number) ?? 0
  if (ones === null || ones === undefined)
    return applyTo(others ?? [], value => calculate(operator, left as number, value))
  if (others === null || others === undefined)
    return applyTo(ones, value => calculate(operator, value, right as number))
  const byKey = new Map(others.map(sample => [matchKey(sample), sample.value]))
  return ones.flatMap(sample => {
    const other = byKey.get(matchKey(sample))
    const value = other === undefined ? null : calculate(operator, sample.value, other)
    return value === null ? [] : [{ labels: sample.labels, value }]
  })
}

function applyTo(samples: readonly Sample[], change: (value: number) => number | null): Sample[] {
  return samples.flatMap(({ labels, value }) => {
    const changed = change(value)
    return changed === null ? [] : [{ labels, value: changed }]
  })
}

/** Applies an operator; null if it is a comparison that is false. */
function calculate(operator: string, left: number, right: number): number | null {
  switch (operator) {
    case '+':
      return left + right
    case '-':
      return left - right
    case '*':
      return left * right
    case '/':
      return left / right
    case '==':
      return left === right ? left : null
    case '!=':
      return left !== right ? left : null
    case '>':
      return left > right ? left : null
    case '<':
      return left < right ? left : null
    case '>=':
      return left >= right ? left : null
    case '<=':
      return left <= right ? left : null
    default:
      throw new Error(`unknown operator ${operator}`)
  }
}

/** Returns how much a counter rose. A drop means that the counter was reset to 0. */
function growth(points: readonly Point[]): number {
  return points.slice(1).reduce((sum, { value }, index) => {
    const before = points[index]!.value
    return sum + (value >= before ? value - before : value)
  }, 0)
}

function spanOf(points: readonly Point[]): number {
  return points.at(-1)!.at - points[0]!.at
}

function only(labels: Labels, names: readonly string[]): Labels {
  return Object.fromEntries(names.flatMap(name => (labels[name] === undefined ? [] : [[name, labels[name]]])))
}

function keyOf(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort())
}
