/** Parses a metrics scrape; throws if Prometheus would reject it. */

export interface ParsedSample {
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
  /** The sample's name as scraped, including suffixes such as `_bucket`. */
  readonly name: string
}

export interface ParsedFamily {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly samples: ParsedSample[]
}

const SAMPLE = /^([a-z_][a-z0-9_]*)(?:\{(.*)\})? (\S+)$/
const LABEL = /^([a-z_]+)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/
const SUFFIXES: Readonly<Record<ParsedFamily['type'], readonly string[]>> = {
  counter: [''],
  gauge: [''],
  histogram: ['_bucket', '_sum', '_count'],
}

export function parseExposition(text: string): ReadonlyMap<string, ParsedFamily> {
  const families = new Map<string, ParsedFamily>()
  const seen = new Set<string>()
  if (!text.endsWith('\n')) throw new Error('the last line does not end with a newline')
  let family: ParsedFamily | null = null
  let familyName = ''
  let help: string | null = null
  for (const line of text.slice(0, -1).split('\n')) {
    const head = /^# (HELP|TYPE) ([a-z_][a-z0-9_]*) (.+)$/.exec(line)
    if (head?.[1] === 'HELP') {
      familyName = head[2] as string
      help = head[3] as string
      if (families.has(familyName)) throw new Error(`the family ${familyName} appears twice`)
    } else if (head !== null) {
      if (help === null || head[2] !== familyName) throw new Error(`no HELP line precedes: ${line}`)
      family = { type: head[3] as ParsedFamily['type'], help, samples: [] }
      families.set(familyName, family)
      help = null
    } else {
      const found = SAMPLE.exec(line)
      if (found === null || family === null) throw new Error(`not a sample: ${line}`)
      const [, name = '', labelText = '', valueText = ''] = found
      if (!SUFFIXES[family.type].some(suffix => name === familyName + suffix)) {
        throw new Error(`the sample ${name} appears under the family ${familyName}`)
      }
      const value = valueText === '+Inf' ? Number.POSITIVE_INFINITY : Number(valueText)
      if (Number.isNaN(value)) throw new Error(`the value is not a number: ${line}`)
      const labels = parseLabels(labelText)
      const series = name + JSON.stringify(Object.entries(labels).sort())
      if (seen.has(series)) throw new Error(`this series appears twice: ${line}`)
      seen.add(series)
      family.samples.push({ name, labels, value })
    }
  }
  return families
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== ''; ) {
    const found = LABEL.exec(rest)
    if (found === null) throw new Error(`these are not labels: ${text}`)
    const [whole, name = '', value = ''] = found
    labels[name] = value.replaceAll(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character))
    rest = rest.slice(whole.length)
  }
  return labels
}

/** A gateway's metrics at one moment. */
export class Figures {
  readonly families: ReadonlyMap<string, ParsedFamily>

  constructor(text: string) {
    this.families = parseExposition(text)
  }

  /** Sum of the samples of a metric with these label values; 0 if there are none. `name` may have a suffix, such as `x_count`. */
  sum(name: string, labels: Readonly<Record<string, string>> = {}): number {
    const family = this.families.get(name) ?? this.families.get(name.replace(/_(bucket|sum|count)$/, ''))
    if (family === undefined) throw new Error(`there is no metric ${name}`)
    const wanted = Object.entries(labels)
    return family.samples
      .filter(sample => sample.name === name && wanted.every(([label, value]) => sample.labels[label] === value))
      .reduce((sum, sample) => sum + sample.value, 0)
  }
}

export async function scrape(url: string): Promise<Figures> {
  const response = await fetch(url)
  if (response.status !== 200) throw new Error(`status ${response.status}`)
  return new Figures(await response.text())
}
