/**
 * The commands about running gateways: maintenance, key limits, the state of upstreams, old usage rows and unknown model names.
 */

import { CALLS_PER_MINUTE_MAX, CONCURRENCY_MAX, limitConcurrency, limitKey } from '../accounts/key-rate.ts'
import { listKeys } from '../accounts/keys.ts'
import { COMMAND_LINE, recordAction } from '../accounts/operator-log.ts'
import { catalogue } from '../catalogue/current.ts'
import { RETIRE_DAYS_MIN, retireUsage } from '../ledger/retire.ts'
import { announce } from '../operations/channel.ts'
import { RETRY_AFTER_SECONDS_MAX, setMaintenance } from '../operations/maintenance.ts'
import { readProcessStatus } from '../operations/process-status.ts'
import { readUnknownModels, UNKNOWN_MODELS_KEPT_DAYS } from '../operations/unknown-models.ts'
import type { ReportedState } from '../upstream/circuit.ts'
import type { UpstreamStatus } from '../upstream/registry.ts'
import { noActiveKey, readCount, UsageError } from './arguments.ts'
import { type Action, accountOf, readKeyId } from './commands.ts'

const maintenanceOn: Action = async ({ sql }, { options }) => {
  const text = options['retry-after']
  const bounds = { min: 1, max: RETRY_AFTER_SECONDS_MAX }
  const retryAfterSeconds = text === undefined ? null : readCount(text, 'a number of seconds', bounds)
  const state = await sql.begin(async transaction => {
    await recordAction(transaction, { by: COMMAND_LINE, action: 'maintenance.on' })
    return setMaintenance(transaction, { enabled: true, retryAfterSeconds })
  })
  return {
    data: { maintenance: true, retry_after_seconds: state.retryAfterSeconds },
    text: `Maintenance is on: new calls are refused with retry-after ${state.retryAfterSeconds} s. Calls in flight finish.`,
  }
}

const maintenanceOff: Action = async ({ sql }) => {
  await sql.begin(async transaction => {
    await recordAction(transaction, { by: COMMAND_LINE, action: 'maintenance.off' })
    await setMaintenance(transaction, { enabled: false, retryAfterSeconds: null })
  })
  return { data: { maintenance: false }, text: 'Maintenance is off: the gateway takes calls.' }
}

const keyLimit: Action = async (foundation, { words, options }) => {
  const [email, number, calls] = words as [string, string, string]
  const keyId = readKeyId(number, email)
  const perMinute = calls === 'same' ? undefined : readLimit(calls, 'calls per minute', CALLS_PER_MINUTE_MAX)
  const inFlight =
    options.concurrency === undefined ? undefined : readLimit(options.concurrency, 'calls in flight', CONCURRENCY_MAX)
  const { accountId } = await accountOf(foundation, email)
  const key = { accountId, keyId, by: COMMAND_LINE }
  const { sql } = foundation
  const isThere =
    (perMinute === undefined || (await limitKey(sql, key, perMinute))) &&
    (inFlight === undefined || (await limitConcurrency(sql, key, inFlight)))
  const now = isThere
    ? (await listKeys(sql, accountId)).find(listed => listed.keyId === keyId && !listed.revokedAt)
    : undefined
  if (now === undefined) throw noActiveKey(email, keyId)
  await announce(sql, 'keys')
  return {
    data: { key_id: keyId, rate_limit_per_minute: now.rateLimitPerMinute, concurrency_max: now.concurrencyMax },
    text: `Key ${keyId} has ${meaningOf(now.rateLimitPerMinute, 'calls per minute')} and ${meaningOf(now.concurrencyMax, 'calls in flight')}.`,
  }
}

/** Reads a limit; null for `default`. Throws UsageError. */
function readLimit(text: string, what: string, max: number): number | null {
  return text === 'default' ? null : readCount(text, `a number of ${what}`, { min: 0, max })
}

function meaningOf(limit: number | null, what: string): string {
  if (limit === null) return `the catalogue's limit of ${what}`
  return limit === 0 ? `no limit of ${what}` : `${limit} ${what}`
}

interface GatewayStatus {
  readonly pid: number
  readonly startedAt: string
  readonly callsInFlight: number
  readonly upstreams: readonly UpstreamStatus[]
}

const upstreamStatus: Action = async ({ sql }) => {
  const processes = await readProcessStatus<GatewayStatus>(sql)
  const data = processes.map(({ name, seenSecondsAgo, status }) => ({
    process: name,
    pid: status.pid,
    started_at: status.startedAt,
    seen_seconds_ago: seenSecondsAgo,
    calls_in_flight: status.callsInFlight,
    upstreams: status.upstreams.map(upstream => ({
      id: upstream.id,
      sandbox: upstream.sandbox,
      state: upstream.state,
      wait_seconds: upstream.waitSeconds,
      // Missing in reports of processes that run the previous version.
      out_seconds: upstream.outSeconds ?? 0,
      calls_in_flight: upstream.callsInFlight,
      tries: upstream.tries,
      failures: upstream.failures,
      credentials: upstream.credentials.map(credential => ({
        label: credential.label,
        state: credential.state,
        wait_seconds: credential.waitSeconds,
        models_aside: credential.modelsCoolingDown,
      })),
    })),
  }))
  const text = data.flatMap(each => [
    `${each.process} (process ${each.pid}), ${each.calls_in_flight} calls in flight`,
    ...each.upstreams.flatMap(upstream => [
      `  ${upstream.id.padEnd(20)} ${stateText(upstream)}  attempts: ${upstream.tries}, failed: ${upstream.failures}` +
        (upstream.sandbox ? ', sandbox' : '') +
        (upstream.out_seconds > 0 ? `, taken out for ${upstream.out_seconds} s` : ''),
      ...upstream.credentials
        .filter(credential => credential.state !== 'well' || credential.models_aside.length > 0)
        .map(credential => `    ${credential.label} ${stateText(credential)} ${credential.models_aside.join(', ')}`),
    ]),
  ])
  return { data, text: text.length === 0 ? 'No gateway is running on this database.' : text.join('\n') }
}

/** The states in the words of the pages; `--json` keeps the older ones. */
function stateText({
  state,
  wait_seconds: seconds,
}: {
  readonly state: ReportedState
  readonly wait_seconds: number
}): string {
  return { well: 'healthy', aside: `cooling down for ${seconds} s`, on_trial: 'probing' }[state]
}

const DAYS_MAX = 36_500

const usageRetire: Action = async ({ sql }, { options }) => {
  const text = options['older-than']
  if (text === undefined) throw new UsageError('--older-than is required: rows older than this many days are deleted')
  const olderThanDays = readCount(text, 'a number of days', { min: RETIRE_DAYS_MIN, max: DAYS_MAX })
  const { rows, accounts } = await retireUsage(sql, { olderThanDays })
  return { data: { rows, accounts }, text: `${rows} usage rows of ${accounts} accounts were retired; their sums stay.` }
}

const UNKNOWN_MODELS_SHOWN_MAX = 1_000

const modelUnknown: Action = async ({ sql }, { options }) => {
  const days = readCount(options.days ?? '7', 'a number of days', { min: 1, max: UNKNOWN_MODELS_KEPT_DAYS })
  const found = await readUnknownModels(sql, { days, limit: UNKNOWN_MODELS_SHOWN_MAX })
  const names = found.map(each => ({
    name: each.name,
    fell_back: each.fellBack,
    refused: each.refused,
    last_at: each.lastAt.toISOString(),
    known_as: catalogue.resolve(each.name)?.entry.id ?? null,
  }))
  const rows = names.map(
    each =>
      `${String(each.fell_back).padStart(9)} fell back, ${String(each.refused).padStart(6)} refused  ${JSON.stringify(each.name)}` +
      (each.known_as === null ? '' : `  now ${each.known_as}`),
  )
  return { data: { days, names }, text: rows.join('\n') || `No unknown model names in the last ${days} days.` }
}

export const OPERATIONS_ACTIONS: Readonly<Record<string, Action>> = {
  'key limit': keyLimit,
  'maintenance on': maintenanceOn,
  'maintenance off': maintenanceOff,
  'upstream status': upstreamStatus,
  'usage retire': usageRetire,
  'model unknown': modelUnknown,
}
