/** Every limit that the environment can change, with its bounds and the value that holds when nothing is set. */

export interface ConfigLimits {
  /** Largest request body after decoding, in bytes. */
  readonly bodyBytesMax: number
  /** Values (texts, numbers, objects …) in one request body. */
  readonly bodyValuesMax: number
  /** How many times its own size a compressed body may become. */
  readonly bodyRatioMax: number
  /** Decoded bytes of all request bodies in flight. */
  readonly bodiesBytesMax: number
  /** Decoded bytes of one key's request bodies in flight. */
  readonly keyBodiesBytesMax: number
  /** Decoded bytes of all notifications and forms in flight. */
  readonly strangersBodiesBytesMax: number
  /** Bodies that wait until others are done. */
  readonly bodiesWaitingMax: number
  /** Longest wait of a body until others are done, in ms. */
  readonly bodyWaitMs: number
  /** Longest silence of a client whose body is being read, in ms. */
  readonly bodyIdleMs: number
  /** Longest time for the rest of a body whose request was refused, in ms. */
  readonly lingerMs: number
  /** Longest silence in this time, in ms. */
  readonly lingerIdleMs: number
  /** Most of such a body that is dropped, in bytes. */
  readonly lingerBytesMax: number
  /** Connections on which such bodies are dropped at the same time. */
  readonly lingeringMax: number
  readonly headerBytesMax: number
  readonly headersTimeoutMs: number
  readonly requestTimeoutMs: number
  readonly keepAliveTimeoutMs: number
  readonly replyBytesMax: number
  readonly eventBytesMax: number
  readonly pingAfterMs: number
  readonly holdTokensPerImage: number
  /** Output tokens by which the hold of a stream grows at a time. */
  readonly holdExtendTokens: number
  /** Longest wait of a stream that has used up its hold for an answer of the database, in ms; then it gets one more step. */
  readonly holdExtendWaitMs: number
  /** Largest image that is fetched from a URL, in bytes. */
  readonly imageBytesMax: number
  /** Time for fetching an image, redirects included, in ms. */
  readonly imageFetchMs: number
  /** Most images that are fetched at one moment. */
  readonly imageFetchesMax: number
  /** Image URLs that are fetched for one chat call. */
  readonly imageUrlsMax: number
  /** Longest wait for money that other calls hold, in ms. */
  readonly admissionWaitMs: number
  /** Longest wait of a reply for its settlement, in ms; then the spool has it. */
  readonly settleWaitMs: number
  /** Longest wait of a call for a database that does not answer, in ms; then 503. */
  readonly databaseWaitMs: number
  /** Silence after which another process counts as lost and its holds are freed, in ms. */
  readonly lostAfterMs: number
  readonly upstreamConnectionsMax: number
  /** Most tries of one call at all its upstreams. */
  readonly upstreamTriesMax: number
  readonly rememberedKeysMax: number
  readonly rememberedKeyMs: number
  /** Longest wait for calls in flight at a stop, in ms. */
  readonly drainMs: number
  /** Spans that wait for the collector of traces; further ones are dropped. */
  readonly spansWaitingMax: number
  /** Time from "not ready" to the end of listening, for load balancers to notice, in ms. */
  readonly drainNoticeMs: number
  /** Time that idle connections have for one more call at a stop, in ms. */
  readonly drainIdleMs: number
  /** Longest start of a worker, in ms. */
  readonly workerStartMs: number
  /** Longest pause before a dead worker is replaced, in ms; the pauses double up to it. */
  readonly workerPauseMs: number
  /** Starts that fail one after the other while no worker takes calls, after which the supervisor gives up. */
  readonly workerFailuresMax: number
}

export interface LimitRow {
  readonly fallback: number
  /** Instead of `fallback` with NODE_ENV=production. */
  readonly production?: number
  readonly min: number
  readonly max: number
}

const MIB = 1024 * 1024

/** Each limit can be set as `LIMIT_<NAME>` in the environment. */
const LIMITS: Readonly<Record<keyof ConfigLimits, LimitRow>> = {
  bodyBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB },
  bodyValuesMax: { fallback: 100_000, min: 1_000, max: 10_000_000 },
  bodyRatioMax: { fallback: 100, min: 2, max: 1_000_000 },
  bodiesBytesMax: { fallback: 96 * MIB, min: MIB, max: 65_536 * MIB },
  keyBodiesBytesMax: { fallback: 64 * MIB, min: MIB, max: 65_536 * MIB },
  strangersBodiesBytesMax: { fallback: 16 * MIB, min: MIB, max: 1024 * MIB },
  bodiesWaitingMax: { fallback: 1000, min: 0, max: 100_000 },
  bodyWaitMs: { fallback: 15_000, min: 0, max: 120_000 },
  bodyIdleMs: { fallback: 10_000, min: 100, max: 900_000 },
  lingerMs: { fallback: 30_000, min: 0, max: 120_000 },
  lingerIdleMs: { fallback: 5_000, min: 0, max: 120_000 },
  lingerBytesMax: { fallback: 64 * MIB, min: 0, max: 1024 * MIB },
  lingeringMax: { fallback: 1000, min: 0, max: 100_000 },
  headerBytesMax: { fallback: 16 * 1024, min: 4096, max: MIB },
  headersTimeoutMs: { fallback: 30_000, min: 500, max: 900_000 },
  requestTimeoutMs: { fallback: 120_000, min: 1000, max: 900_000 },
  keepAliveTimeoutMs: { fallback: 75_000, min: 1000, max: 900_000 },
  replyBytesMax: { fallback: 64 * MIB, min: 1024, max: 1024 * MIB },
  eventBytesMax: { fallback: 16 * MIB, min: 1024, max: 256 * MIB },
  pingAfterMs: { fallback: 15_000, min: 100, max: 120_000 },
  imageBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB },
  imageFetchMs: { fallback: 10_000, min: 100, max: 120_000 },
  imageFetchesMax: { fallback: 64, min: 1, max: 10_000 },
  imageUrlsMax: { fallback: 20, min: 0, max: 1000 },
  holdExtendTokens: { fallback: 4096, min: 256, max: 1_000_000 },
  holdExtendWaitMs: { fallback: 5_000, min: 100, max: 900_000 },
  holdTokensPerImage: { fallback: 1600, min: 1, max: 100_000 },
  admissionWaitMs: { fallback: 15_000, min: 0, max: 120_000 },
  settleWaitMs: { fallback: 250, min: 0, max: 60_000 },
  databaseWaitMs: { fallback: 5_000, min: 100, max: 60_000 },
  lostAfterMs: { fallback: 960_000, min: 1_000, max: 86_400_000 },
  upstreamConnectionsMax: { fallback: 4096, min: 1, max: 65_535 },
  upstreamTriesMax: { fallback: 4, min: 1, max: 20 },
  rememberedKeysMax: { fallback: 10_000, min: 1, max: 10_000_000 },
  rememberedKeyMs: { fallback: 60_000, min: 0, max: 3_600_000 },
  drainMs: { fallback: 900_000, min: 0, max: 3_600_000 },
  spansWaitingMax: { fallback: 4096, min: 1, max: 1_000_000 },
  drainNoticeMs: { fallback: 0, production: 5_000, min: 0, max: 600_000 },
  drainIdleMs: { fallback: 5_000, production: 76_000, min: 0, max: 900_000 },
  workerStartMs: { fallback: 60_000, min: 1000, max: 900_000 },
  workerPauseMs: { fallback: 10_000, min: 100, max: 600_000 },
  workerFailuresMax: { fallback: 10, min: 1, max: 1000 },
}

export function limitVariable(name: string): string {
  return `LIMIT_${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

/** Where limits are read from, and faults gathered. */
interface IntegerReader {
  integer(name: string, row: LimitRow): number
}

export function readLimits(reader: IntegerReader, production: boolean): ConfigLimits {
  const names = Object.keys(LIMITS) as (keyof ConfigLimits)[]
  const read = (name: keyof ConfigLimits) => {
    const row = LIMITS[name]
    return reader.integer(limitVariable(name), { ...row, fallback: (production && row.production) || row.fallback })
  }
  return Object.fromEntries(names.map(name => [name, read(name)])) as unknown as ConfigLimits
}
