/** The state of each upstream, combined from all gateway processes. */

import { readUpstreamFigures, type UpstreamFigures } from '../../ledger/reports/upstream-figures.ts'
import { readProcessStatus } from '../../operations/process-status.ts'
import { readUpstreamsOut, type UpstreamOut } from '../../operations/upstreams-out.ts'
import type { UpstreamStatus } from '../../upstream/registry.ts'
import type { PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'

export interface CoolingCredential {
  readonly label: string
  /** Time from which every process may use the credential again. */
  readonly until: Date
  /** Number of processes in which the credential is cooling down. */
  readonly processes: number
}

export interface UpstreamView {
  readonly id: string
  readonly isSandbox: boolean
  /** Number of processes that can call the upstream; `openIn` counts those in which its circuit is open. */
  readonly processes: number
  readonly openIn: number
  readonly openUntil: Date | null
  readonly callsInFlight: number
  readonly credentials: number
  readonly cooling: readonly CoolingCredential[]
  /** A credential and a model that the provider currently limits or refuses for it, such as `anthropic#1 claude-opus-5`. */
  readonly modelsAside: readonly string[]
  readonly out: UpstreamOut | null
  /** Null if there were no attempts in the period. */
  readonly figures: UpstreamFigures | null
  readonly stateText: string
  readonly tone: '' | 'good' | 'warn' | 'bad'
}

interface Seen {
  readonly seenSecondsAgo: number
  readonly status: UpstreamStatus
}

/**
 * Returns the upstreams that at least one process can call, and the upstream `known`, even if it has no credentials. If no
 * process has reported yet, right after a start, uses only what this process knows.
 */
export async function readUpstreamViews(
  request: PageRequest,
  since: Date,
  known: string | null = null,
): Promise<readonly UpstreamView[]> {
  const { options } = request
  const [processes, out, figures] = await Promise.all([
    readProcessStatus<{ readonly upstreams: readonly UpstreamStatus[] }>(options.sql),
    readUpstreamsOut(options.sql),
    readUpstreamFigures(options.sql, since),
  ])
  const told = processes.flatMap(({ seenSecondsAgo, status }) =>
    status.upstreams.map((each): Seen => ({ seenSecondsAgo, status: each })),
  )
  const own = options.upstreams().map((status): Seen => ({ seenSecondsAgo: 0, status }))
  const byId = Map.groupBy(told.length === 0 ? own : told, ({ status }) => status.id)
  if (known !== null && !byId.has(known)) byId.set(known, [])
  return [...byId.entries()]
    .map(([id, seen]) =>
      viewOf(request, seen, {
        id,
        out: out.find(({ upstreamId }) => upstreamId === id) ?? null,
        figures: figures.get(id) ?? null,
      }),
    )
    .sort((one, other) => (one.id < other.id ? -1 : 1))
}

function viewOf(
  { now, language }: PageRequest,
  seen: readonly Seen[],
  { id, out, figures }: Pick<UpstreamView, 'id' | 'out' | 'figures'>,
): UpstreamView {
  const until = (waitSeconds: number, seenSecondsAgo: number) =>
    new Date(now.getTime() + Math.max(0, waitSeconds - seenSecondsAgo) * 1000)
  const open = seen.filter(({ status }) => status.state === 'aside')
  const trying = seen.filter(({ status }) => status.state === 'on_trial')
  const credentials = seen.flatMap(({ seenSecondsAgo, status }) =>
    status.credentials.map(credential => ({ ...credential, until: until(credential.waitSeconds, seenSecondsAgo) })),
  )
  const cooling = Map.groupBy(
    credentials.filter(({ state }) => state === 'aside'),
    ({ label }) => label,
  )
  const first = seen[0]?.status ?? null
  const processes = seen.length
  const values = { count: open.length, processes }
  const [stateText, tone] =
    out !== null
      ? [text(language, 'operator.upstream.state.out'), 'warn' as const]
      : first === null
        ? [text(language, 'operator.upstream.state.unreachable'), '' as const]
        : open.length > 0
          ? [text(language, 'operator.upstream.state.open', values), 'bad' as const]
          : trying.length > 0
            ? [text(language, 'operator.upstream.state.trying'), 'warn' as const]
            : [text(language, 'operator.upstream.state.healthy'), 'good' as const]
  return {
    id,
    isSandbox: first?.sandbox === true,
    processes,
    openIn: open.length,
    openUntil: open.length === 0 ? null : latest(open.map(each => until(each.status.waitSeconds, each.seenSecondsAgo))),
    callsInFlight: seen.reduce((sum, { status }) => sum + status.callsInFlight, 0),
    credentials: first?.credentials.length ?? 0,
    cooling: [...cooling].map(([label, each]) => ({
      label,
      until: latest(each.map(credential => credential.until)),
      processes: each.length,
    })),
    modelsAside: [
      ...new Set(
        credentials.flatMap(({ label, modelsCoolingDown = [] }) => modelsCoolingDown.map(model => `${label} ${model}`)),
      ),
    ].sort(),
    out,
    figures,
    stateText,
    tone,
  }
}

function latest(times: readonly Date[]): Date {
  return new Date(Math.max(...times.map(time => time.getTime())))
}

/** An upstream is failing if it had at least this many attempts and at least this share of them failed. */
const FAILING_ATTEMPTS_MIN = 20
const FAILING_SHARE = 0.2

export function isFailing({ openIn, figures }: UpstreamView): boolean {
  if (openIn > 0) return true
  return (
    figures !== null && figures.attempts >= FAILING_ATTEMPTS_MIN && figures.failures >= figures.attempts * FAILING_SHARE
  )
}
