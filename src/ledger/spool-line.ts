/**
 * One line of the spool: a settlement as JSON, the id of a call whose settlement has reached the database, or the id of the
 * database that the file belongs to. Each line ends with a checksum over the line and the database id, which exposes damaged
 * lines and lines of another database. Lines written by older versions have no checksum.
 */

import { crc32 } from 'node:zlib'
import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { isUuid } from '../lib/ids.ts'
import { microVnd } from '../lib/money.ts'
import { checkSettlement, NAME_CHARACTERS_MAX } from './check.ts'
import { PRICE_PER_CODES, type Settlement } from './types.ts'

const ENDPOINTS: ReadonlySet<unknown> = new Set(Object.values(ENDPOINT_FACTS).map(({ code }) => code))

/** Longest line that is read, in bytes: longer than a settlement with the longest names and the most attempts. */
export const LINE_BYTES_MAX = 32_768

export type SpoolLine =
  | { readonly kind: 'done'; readonly callId: string }
  /** `checked` is false for lines of older versions, which have no checksum. */
  | { readonly kind: 'settlement'; readonly settlement: Settlement; readonly checked: boolean }
  | { readonly kind: 'header' }
  | { readonly kind: 'damaged'; readonly reason: 'length' | 'checksum' | 'shape' }

const CHECKSUM = /,"crc":"([0-9a-f]{8})"\}$/
const CHECKSUM_BYTES = ',"crc":"00000000"}'.length

export function writeSettlement(settlement: Settlement, databaseId: string): string {
  const { costMicroVnd, upstreamCostMicroVnd, openedAt } = settlement
  const plain = {
    ...settlement,
    costMicroVnd: String(costMicroVnd),
    ...(upstreamCostMicroVnd != null && { upstreamCostMicroVnd: String(upstreamCostMicroVnd) }),
    openedAt: openedAt.toISOString(),
  }
  return withChecksum(JSON.stringify(plain), databaseId)
}

export function writeDone(callId: string, databaseId: string): string {
  return withChecksum(`{"done":"${callId}"}`, databaseId)
}

/** Writes the first line of a file, which names the database that the file belongs to. */
export function writeHeader(databaseId: string): string {
  return withChecksum(`{"database":"${databaseId}"}`, databaseId)
}

/** Returns the id of the database that a file's first line names; null if the line is not an intact header. */
export function readHeader(line: Buffer): string | null {
  const found = /^\{"database":"([^"]{36})",/.exec(line.toString('latin1'))?.[1]
  return found !== undefined && isUuid(found) && readLine(line, found).kind === 'header' ? found : null
}

/** Parses a line without its trailing newline. */
export function readLine(line: Buffer, databaseId: string): SpoolLine {
  if (line.length > LINE_BYTES_MAX) return { kind: 'damaged', reason: 'length' }
  const found = CHECKSUM.exec(line.toString('latin1', Math.max(0, line.length - CHECKSUM_BYTES)))
  if (found !== null && found[1] !== checksum(line.subarray(0, -CHECKSUM_BYTES), databaseId)) {
    return { kind: 'damaged', reason: 'checksum' }
  }
  const checked = found !== null
  const value = parse(line)
  if (value === null) return { kind: 'damaged', reason: 'shape' }
  if (checked && value.database === databaseId) return { kind: 'header' }
  // Lines of older versions have only known fields, so an unknown field must be a damaged checksum.
  if (!checked && !Object.keys(value).every(name => NAMES.has(name))) return { kind: 'damaged', reason: 'shape' }
  if (typeof value.done === 'string' && isUuid(value.done)) return { kind: 'done', callId: value.done }
  const settlement = readSettlement(value)
  if (settlement === null) return { kind: 'damaged', reason: 'shape' }
  return { kind: 'settlement', settlement, checked }
}

function withChecksum(json: string, databaseId: string): string {
  const body = json.slice(0, -1)
  return `${body},"crc":"${checksum(body, databaseId)}"}\n`
}

/** Cached checksums of database ids. Bounded, because a process knows only a few databases, but damaged headers name others. */
const seeds = new Map<string, number>()
const SEEDS_MAX = 16

function checksum(body: string | Buffer, databaseId: string): string {
  let seed = seeds.get(databaseId)
  if (seed === undefined) {
    if (seeds.size >= SEEDS_MAX) seeds.clear()
    seed = crc32(databaseId)
    seeds.set(databaseId, seed)
  }
  return crc32(body, seed).toString(16).padStart(8, '0')
}

type Fields = Readonly<Record<string, unknown>>

function parse(line: Buffer): Fields | null {
  try {
    const value: unknown = JSON.parse(line.toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null
  } catch {
    return null
  }
}

const isNumber = (value: unknown): boolean => typeof value === 'number'
const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= NAME_CHARACTERS_MAX
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isMoney = (value: unknown): boolean => typeof value === 'string' && /^\d{1,19}$/.test(value)
const isTime = (value: unknown): boolean =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(value)

const isAttempt = (value: unknown): boolean => {
  if (typeof value !== 'object' || value === null) return false
  const { credential, model, outcome, startedMs, endedMs, status } = value as Fields
  const numbers = [startedMs, endedMs, status ?? 0]
  return [credential, model, outcome].every(isText) && numbers.every(isNumber)
}

/** Checks the types of the fields; `checkSettlement` checks their ranges. */
const FIELDS: Readonly<Record<keyof Settlement, (value: unknown) => boolean>> = {
  callId: isText,
  accountId: isNumber,
  keyId: isNumber,
  entryId: isText,
  requestedName: value => value === null || isText(value),
  endpoint: value => ENDPOINTS.has(value),
  costMicroVnd: isMoney,
  inputTokens: isNumber,
  outputTokens: isNumber,
  cachedInputTokens: isNumber,
  cacheWriteTokens: value => value === undefined || isNumber(value),
  reasoningTokens: isNumber,
  images: isNumber,
  priceVnd: isNumber,
  extrasVnd: value => value === undefined || isNumber(value),
  upstreamCostMicroVnd: value => value === undefined || value === null || isMoney(value),
  pricePer: value => typeof value === 'string' && Object.hasOwn(PRICE_PER_CODES, value),
  openedAt: isTime,
  firstByteMs: value => value === null || isNumber(value),
  latencyMs: isNumber,
  status: isNumber,
  streamed: isFlag,
  estimated: isFlag,
  attempts: value => value === undefined || (Array.isArray(value) && value.every(isAttempt)),
  errorCode: value => value === undefined || value === null || isText(value),
  requestId: value => value === undefined || value === null || isText(value),
  tag: value => value === undefined || value === null || isText(value),
  catalogueId: value => value === undefined || value === null || isNumber(value),
}
const NAMES: ReadonlySet<string> = new Set(['done', ...Object.keys(FIELDS)])

function readSettlement(value: Fields): Settlement | null {
  const fields = Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(FIELDS, name)))
  if (!Object.entries(FIELDS).every(([name, isOfType]) => isOfType(fields[name]))) return null
  const rest = fields as unknown as Omit<Settlement, 'costMicroVnd' | 'upstreamCostMicroVnd' | 'openedAt'>
  const { upstreamCostMicroVnd } = fields
  const settlement: Settlement = {
    ...rest,
    costMicroVnd: microVnd(BigInt(String(fields.costMicroVnd))),
    ...(typeof upstreamCostMicroVnd === 'string' && { upstreamCostMicroVnd: microVnd(BigInt(upstreamCostMicroVnd)) }),
    openedAt: new Date(String(fields.openedAt)),
  }
  try {
    checkSettlement(settlement)
    return settlement
  } catch {
    return null
  }
}
