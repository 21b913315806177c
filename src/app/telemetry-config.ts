/** Environment settings for metrics and traces; both are off unless a destination is set. */

export interface TelemetryConfig {
  /** Null when metrics are off. */
  readonly metrics: MetricsConfig | null
  /** Null when traces are off. */
  readonly traces: TracesConfig | null
}

export interface MetricsConfig {
  readonly host: string
  readonly port: number
  /** Interval between audits, in minutes; 0 turns them off. */
  readonly auditMinutes: number
  /**
   * How old the last full audit may be, in minutes. If it is older, the next audit reads the whole journal again. 0 makes every
   * audit a full one.
   */
  readonly auditFullMinutes: number
}

export interface TracesConfig {
  /** URL that OTLP spans are posted to. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Service name in traces; null: the one set in the catalogue. */
  readonly serviceName: string | null
  /** Additional OTLP resource attributes. */
  readonly attributes: Readonly<Record<string, string>>
  /** Fraction of traces kept, 0 to 1. */
  readonly ratio: number
}

interface IntegerRow {
  readonly fallback: number
  readonly min: number
  readonly max: number
}

interface Reader {
  readonly faults: string[]
  text(name: string): string | null
  url(name: string, protocols: readonly string[]): string | null
  integer(name: string, row: IntegerRow): number
}

const METRICS = ['METRICS_PORT', 'METRICS_HOST', 'METRICS_AUDIT_MINUTES', 'METRICS_AUDIT_FULL_MINUTES'] as const
const PORTS: IntegerRow = { fallback: 0, min: 0, max: 65_535 }
const AUDIT_MINUTES: IntegerRow = { fallback: 360, min: 0, max: 10_080 }
/** At most a week, because only a full audit finds changes to rows that earlier audits have already read. */
const AUDIT_FULL_MINUTES: IntegerRow = { fallback: 1_440, min: 0, max: 10_080 }
const HTTP = ['http:', 'https:']

/** Reads the settings and collects faults in `reader`. `names` lists the variables that are set; `port` is the public port. */
export function readTelemetryConfig(reader: Reader, names: Iterable<string>, port: number): TelemetryConfig {
  for (const name of names) {
    if (!name.startsWith('METRICS_') || METRICS.some(known => known === name)) continue
    reader.faults.push(`${name} is not read by this gateway; it reads ${METRICS.join(', ')}`)
  }
  return { metrics: readMetrics(reader, port), traces: readTraces(reader) }
}

function readMetrics(reader: Reader, publicPort: number): MetricsConfig | null {
  const port = reader.integer('METRICS_PORT', PORTS)
  const auditMinutes = reader.integer('METRICS_AUDIT_MINUTES', AUDIT_MINUTES)
  const auditFullMinutes = reader.integer('METRICS_AUDIT_FULL_MINUTES', AUDIT_FULL_MINUTES)
  if (reader.text('METRICS_PORT') === null) return null
  if (port !== 0 && port === publicPort) {
    reader.faults.push('METRICS_PORT equals PORT; give the metrics their own port, closed to the public')
  }
  return { host: reader.text('METRICS_HOST') ?? '127.0.0.1', port, auditMinutes, auditFullMinutes }
}

function readTraces(reader: Reader): TracesConfig | null {
  const base = reader.url('OTEL_EXPORTER_OTLP_ENDPOINT', HTTP)
  const own = reader.url('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', HTTP)
  const protocol =
    reader.text('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? reader.text('OTEL_EXPORTER_OTLP_PROTOCOL') ?? 'http/json'
  const headers = readPairs(reader, 'OTEL_EXPORTER_OTLP_HEADERS')
  const attributes = readPairs(reader, 'OTEL_RESOURCE_ATTRIBUTES')
  const ratio = readRatio(reader)
  const url = own ?? (base === null ? null : `${base}/v1/traces`)
  if (url === null || reader.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return null
  if (protocol !== 'http/json') {
    reader.faults.push(
      `OTEL_EXPORTER_OTLP_PROTOCOL is ${JSON.stringify(protocol)}; this gateway supports only http/json`,
    )
  }
  return { url, headers, attributes, ratio, serviceName: reader.text('OTEL_SERVICE_NAME') }
}

/** Reads comma-separated `name=value` pairs with percent-encoded values. Values may be secrets, so faults never repeat them. */
function readPairs(reader: Reader, name: string): Readonly<Record<string, string>> {
  const pairs = (reader.text(name) ?? '').split(',').filter(pair => pair.trim() !== '')
  try {
    return Object.fromEntries(
      pairs.map(pair => {
        const [, key = '', value = ''] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? []
        if (key === '') throw new URIError('a pair has no name')
        return [key, decodeURIComponent(value.trim())]
      }),
    )
  } catch {
    reader.faults.push(`${name} is not a list of pairs; write e.g. name=value,other=value`)
    return {}
  }
}

function readRatio(reader: Reader): number {
  const text = reader.text('OTEL_TRACES_SAMPLER_ARG')
  if (text === null) return 1
  const ratio = /^(0|1|0?\.\d+|1\.0*|0\.0*)$/.test(text) ? Number(text) : Number.NaN
  if (ratio >= 0 && ratio <= 1) return ratio
  reader.faults.push(`OTEL_TRACES_SAMPLER_ARG is ${JSON.stringify(text)}; write a fraction from 0 to 1, such as 0.1`)
  return 1
}
