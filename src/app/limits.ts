/** Every limit that the environment can change, with its default and bounds. */

export interface LimitRow {
  readonly fallback: number
  /** Replaces `fallback` when NODE_ENV=production. */
  readonly production?: number
  readonly min: number
  readonly max: number
}

interface DescribedLimit extends LimitRow {
  /** One sentence for docs/configuration.md. The limit's name carries the unit (`Ms`, `Bytes`). */
  readonly what: string
}

const MIB = 1024 * 1024

/** Each limit can be set as `LIMIT_<NAME>` in the environment. */
export const LIMITS = {
  bodyBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB, what: 'Largest request body after decompression.' },
  bodyValuesMax: {
    fallback: 100_000,
    min: 1_000,
    max: 10_000_000,
    what: 'Most JSON values (strings, numbers, objects …) in one request body.',
  },
  bodyRatioMax: {
    fallback: 100,
    min: 2,
    max: 1_000_000,
    what: 'How many times its own size a compressed body may grow to.',
  },
  bodiesBytesMax: {
    fallback: 96 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    what: 'Decoded bytes of all request bodies in one process, and of images fetched for them; they take about six times as much memory.',
  },
  keyBodiesBytesMax: {
    fallback: 64 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    what: "Decoded bytes of one key's request bodies in flight in one process, and of images fetched for them.",
  },
  countedBytesPerMinuteMax: {
    fallback: 64 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    what: 'Bytes of requests whose input tokens one account may have counted for free (`count_tokens`) per minute in one process, a request counting as 64 KiB or more; an account without money gets a quarter. Further ones get 429.',
  },
  strangersBodiesBytesMax: {
    fallback: 16 * MIB,
    min: MIB,
    max: 1024 * MIB,
    what: 'Decoded bytes of all webhook notifications and forms in one process; a single host gets at most an eighth.',
  },
  bodiesWaitingMax: {
    fallback: 1000,
    min: 0,
    max: 100_000,
    what: 'Bodies waiting for others to finish; further ones get 429.',
  },
  bodyWaitMs: {
    fallback: 15_000,
    min: 0,
    max: 120_000,
    what: 'Longest time a body waits for others to finish before it gets 429.',
  },
  bodyIdleMs: {
    fallback: 10_000,
    min: 100,
    max: 900_000,
    what: 'Longest silence of a client while its body is read; after that, 408.',
  },
  lingerMs: {
    fallback: 30_000,
    min: 0,
    max: 120_000,
    what: 'Longest time spent on discarding a body, or the rest of one, that is refused or not read.',
  },
  lingerIdleMs: {
    fallback: 5_000,
    min: 0,
    max: 120_000,
    what: 'Longest silence while such a body is discarded.',
  },
  lingerBytesMax: {
    fallback: 64 * MIB,
    min: 0,
    max: 1024 * MIB,
    what: 'Most bytes discarded of such a body before its connection is closed.',
  },
  lingeringMax: {
    fallback: 1000,
    min: 0,
    max: 100_000,
    what: 'Connections on which such bodies are discarded at a time.',
  },
  headerBytesMax: { fallback: 16 * 1024, min: 4096, max: MIB, what: 'Largest header section of a request.' },
  headersTimeoutMs: { fallback: 30_000, min: 500, max: 900_000, what: "Longest time for a request's headers." },
  requestTimeoutMs: { fallback: 120_000, min: 1000, max: 900_000, what: 'Longest time for a whole request.' },
  keepAliveTimeoutMs: {
    fallback: 75_000,
    min: 1000,
    max: 900_000,
    what: 'Longest silence between two requests on one connection.',
  },
  unreadMs: {
    fallback: 30_000,
    min: 100,
    max: 900_000,
    what: 'How long a client may read nothing of a finished reply before its connection is closed, and may take in all while other replies wait for room.',
  },
  replyBytesMax: {
    fallback: 64 * MIB,
    min: 1024,
    max: 1024 * MIB,
    what: 'Largest non-streamed reply of an upstream.',
  },
  replyValuesMax: {
    fallback: 200_000,
    min: 10_000,
    max: 100_000_000,
    what: "Most JSON values in an upstream's non-streamed reply, or in one event of its stream, log probabilities not counted.",
  },
  repliesBytesMax: {
    fallback: 192 * MIB,
    min: MIB,
    max: 65_536 * MIB,
    what: 'Bytes of all long replies in one process, from 256 KiB on, until their clients have them; one account gets at most half.',
  },
  eventBytesMax: {
    fallback: 16 * MIB,
    min: 1024,
    max: 256 * MIB,
    what: "Largest single event of an upstream's stream.",
  },
  pingAfterMs: {
    fallback: 15_000,
    min: 100,
    max: 120_000,
    what: "Silence of an upstream's stream after which the client gets a ping.",
  },
  imageBytesMax: { fallback: 20 * MIB, min: 1024, max: 200 * MIB, what: 'Largest image fetched from a URL.' },
  imageFetchMs: {
    fallback: 10_000,
    min: 100,
    max: 120_000,
    what: 'Longest time for fetching an image, redirects included.',
  },
  imageFetchesMax: {
    fallback: 64,
    min: 1,
    max: 10_000,
    what: 'Concurrent image fetches; one account gets at most half.',
  },
  imageUrlsMax: { fallback: 20, min: 0, max: 1000, what: 'Most image URLs fetched for one chat call.' },
  holdExtendTokens: {
    fallback: 4096,
    min: 256,
    max: 1_000_000,
    what: "Output tokens by which a stream's hold grows at a time.",
  },
  holdExtendWaitMs: {
    fallback: 5_000,
    min: 100,
    max: 900_000,
    what: 'How long a stream that has used up its hold waits for the database before it gets one more step that no hold covers.',
  },
  holdTokensPerImage: { fallback: 1600, min: 1, max: 100_000, what: 'Input tokens that a hold assumes for an image.' },
  reportedWindowsMax: {
    fallback: 4,
    min: 1,
    max: 1_000,
    what: 'Most context windows of tokens that a provider can truthfully report for one choice; calls with larger reports are billed by our own count.',
  },
  admissionWaitMs: { fallback: 15_000, min: 0, max: 120_000, what: 'Longest wait for money that other calls hold.' },
  settleWaitMs: {
    fallback: 250,
    min: 0,
    max: 60_000,
    what: 'Longest time a reply waits for its settlement, which by then is safe in the spool.',
  },
  databaseWaitMs: {
    fallback: 5_000,
    min: 100,
    max: 60_000,
    what: 'How long a call waits for a database that is not responding; then 503.',
  },
  lostAfterMs: {
    fallback: 960_000,
    min: 1_000,
    max: 86_400_000,
    what: 'Silence after which another process counts as dead and its holds are released.',
  },
  upstreamConnectionsMax: { fallback: 4096, min: 1, max: 65_535, what: 'Connections to one upstream.' },
  upstreamTriesMax: { fallback: 4, min: 1, max: 20, what: 'Most attempts per call, over all its upstreams.' },
  placeWaitMs: {
    fallback: 15_000,
    min: 0,
    max: 120_000,
    what: 'Longest wait for a place at an upstream that has reached its `concurrency_max`; then 503.',
  },
  unknownModelsMax: {
    fallback: 1_000,
    min: 1,
    max: 100_000,
    what: 'Unknown model names that a process keeps until it writes them; further ones are counted without their name.',
  },
  unknownModelsWriteMs: {
    fallback: 60_000,
    min: 100,
    max: 3_600_000,
    what: 'Pause between two writes of unknown model names.',
  },
  unknownModelsPerDayMax: {
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    what: 'Unknown model names listed per day.',
  },
  rememberedKeysMax: { fallback: 10_000, min: 1, max: 10_000_000, what: 'API keys cached by a process.' },
  rememberedKeyMs: {
    fallback: 60_000,
    min: 0,
    max: 3_600_000,
    what: 'How long a process trusts a cached key.',
  },
  drainMs: { fallback: 900_000, min: 0, max: 3_600_000, what: 'Longest wait for calls in flight during shutdown.' },
  closeMs: {
    fallback: 20_000,
    min: 100,
    max: 600_000,
    what: 'Longest time for closing everything once the calls have ended during shutdown; then the process logs what it waits for and exits anyway.',
  },
  spansWaitingMax: {
    fallback: 4096,
    min: 1,
    max: 1_000_000,
    what: 'Spans waiting for the trace collector; further ones are dropped.',
  },
  drainNoticeMs: {
    fallback: 0,
    production: 5_000,
    min: 0,
    max: 600_000,
    what: 'During shutdown, time between "not ready" and closing the port, for load balancers to notice.',
  },
  drainIdleMs: {
    fallback: 5_000,
    production: 76_000,
    min: 0,
    max: 900_000,
    what: 'During shutdown, how long idle connections may still bring one more call.',
  },
  webhookTimeoutMs: {
    fallback: 15_000,
    min: 100,
    max: 60_000,
    what: "Longest time for one delivery to a customer's webhook.",
  },
  secondFactorFreshMs: {
    fallback: 600_000,
    min: 0,
    max: 43_200_000,
    what: 'How long operators can move money after entering a second factor before they are asked again; 0 asks every time.',
  },
  passkeyChallengeMs: {
    fallback: 300_000,
    min: 1_000,
    max: 3_600_000,
    what: 'How long a device may take to create a passkey or to sign with one.',
  },
  passkeysMax: { fallback: 20, min: 1, max: 100, what: 'Passkeys per account.' },
  adjustAskVnd: {
    fallback: 1_000_000,
    min: 0,
    max: 1_000_000_000,
    what: 'Manual balance changes and transfers entered by hand above this amount, in VND, ask for confirmation.',
  },
  adjustVndMax: {
    fallback: 100_000_000,
    min: 1,
    max: 1_000_000_000_000,
    what: 'Largest single balance change or transfer, in VND, that an operator can enter on the pages.',
  },
  playgroundDailyVndMax: {
    fallback: 10_000,
    min: 1,
    max: 1_000_000_000,
    what: 'Most money, in VND, that an account can spend in the playground per day, in Vietnam time.',
  },
  workerStartMs: { fallback: 60_000, min: 1000, max: 900_000, what: 'Longest start-up of a worker.' },
  workerPauseMs: {
    fallback: 10_000,
    min: 100,
    max: 600_000,
    what: 'Longest pause before a dead worker is replaced; pauses double up to it.',
  },
  workerFailuresMax: {
    fallback: 10,
    min: 1,
    max: 1000,
    what: 'Consecutive failed starts, while no worker takes calls, after which the supervisor gives up.',
  },
} as const satisfies Readonly<Record<string, DescribedLimit>>

type LimitName = keyof typeof LIMITS

/** The configured values; `LIMITS` describes each. */
export type ConfigLimits = Readonly<Record<LimitName, number>>

const LIMIT_PREFIX = 'LIMIT_'

export function limitVariable(name: string): string {
  return `${LIMIT_PREFIX}${name.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()}`
}

interface Reader {
  readonly faults: string[]
  integer(name: string, row: LimitRow): number
}

/** Reads all limits. Reports invalid values to `reader`, and unknown limits among `names`, the variables that are set. */
export function readLimits(reader: Reader, names: Iterable<string>, production: boolean): ConfigLimits {
  const known = new Map(Object.entries<LimitRow>(LIMITS).map(([name, row]) => [limitVariable(name), { name, row }]))
  for (const name of names) {
    if (!name.startsWith(LIMIT_PREFIX) || known.has(name)) continue
    reader.faults.push(`${name} is not read by this gateway; docs/configuration.md lists every ${LIMIT_PREFIX}…`)
  }
  const limits = [...known].map(([variable, { name, row }]) => {
    const fallback = (production && row.production) || row.fallback
    return [name, reader.integer(variable, { ...row, fallback })]
  })
  return Object.fromEntries(limits) as ConfigLimits
}
