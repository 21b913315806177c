/** Formats the results of a storm (a run with random faults, see storm.ts) as a table, and lists what went wrong. */

import type { Verdict } from './support/check.ts'
import type { GatewayProcess, ProcessRun } from './support/gateways.ts'
import type { Outage } from './support/missing.ts'

export interface StormReport {
  readonly seed: number
  readonly seconds: number
  readonly calls: number
  /** Number of replies by status; 0 means that the connection broke. */
  readonly statuses: Readonly<Record<string, number>>
  readonly complete: number
  readonly left: number
  readonly gatewayKills: number
  readonly databaseKills: number
  /** How often Postgres was paused. */
  readonly brownOuts: number
  /** Number of streams meant to outgrow their hold. */
  readonly longStreams: number
  /** Number of gateway starts with garbage in the spool. */
  readonly spoolsLittered: number
  /** Number of starts that exited at once because Postgres was unavailable, as they should. */
  readonly startsRefused: number
  readonly notifications: number
  readonly transfers: number
  readonly acknowledged: number
  readonly verdict: Verdict
  /** Exits of processes that the test did not kill, apart from `startsRefused`. */
  readonly exits: readonly string[]
  /** Files that contain a prompt, a key or a secret, which they must not. */
  readonly leaks: readonly string[]
  /** Number of calls that still had no reply after 40 s. */
  readonly hung: number
  /** For each outage of Postgres, the time from when Postgres was ready until the first good reply. */
  readonly databaseRecoveryMs: readonly number[]
  /** For each start of a gateway, the time until it was ready. */
  readonly bootMs: readonly number[]
  /** For each kill of a gateway, the time from the gateway's last answered request to the kill, in ms. */
  readonly silencesMs: readonly number[]
  /** Time in ms from when all gateways were ready again until no hold was left. */
  readonly sweptMs: number
  /** The lowest balance that was ever read, in µVND. */
  readonly lowestBalance: bigint
}

/** Everything that went wrong, by check. Every list must be empty. */
export function faultsOf(report: StormReport): Readonly<Record<string, readonly string[]>> {
  const { verdict, exits, leaks, lowestBalance, hung } = report
  return {
    ...verdict.findings,
    exits,
    leaks,
    below: lowestBalance < 0n ? [`a balance of ${lowestBalance}`] : [],
    hung: hung > 0 ? [`${hung} calls without a reply`] : [],
  }
}

export function tableOf(report: StormReport): string {
  const { verdict, statuses } = report
  const { findings } = verdict
  const rows: [string, string | number][] = [
    ['seed', report.seed],
    ['seconds under load', Math.round(report.seconds)],
    ['calls', report.calls],
    [
      'answers by status (0: connection broken)',
      Object.entries(statuses)
        .map(pair => pair.join(': '))
        .join(', '),
    ],
    ['whole replies that clients received', report.complete],
    ['clients that left a stream', report.left],
    ['kill -9 of gateways', report.gatewayKills],
    ['kill -9 of Postgres', report.databaseKills],
    ['pauses of Postgres', report.brownOuts],
    ['starts with garbage in the spool', report.spoolsLittered],
    ['starts refused while Postgres was unavailable', report.startsRefused],
    ['long streams', report.longStreams],
    ['of these, charged for more than three steps', verdict.outgrown],
    ['of these, ended because the wallet was empty', verdict.spent],
    ['replies that the provider finished', verdict.finished],
    ['of these, charged', verdict.charged],
    ['of these, not received: the gateway was killed before their end arrived', verdict.unheard],
    ['longest time that a gateway was active between such an end and its kill, ms', verdict.unheardMs],
    ['last answer of a gateway → its kill, ms', spread(report.silencesMs)],
    ['**lost**', findings.lost.length],
    ['**doubled**', findings.doubled.length],
    ['**wrong**', findings.wrong.length],
    ['charged without a finished reply', findings.unfounded.length],
    ['calls without a usage row', findings.missing.length],
    [
      'without a trace: Postgres and gateway killed before the hold reached the disk',
      `${verdict.traceless} (at most ${verdict.tracelessMax})`,
    ],
    ['402 while money was left', findings.refused.length],
    ['bank transfers, notifications of them', `${report.transfers}, ${report.notifications}`],
    ['of these, not credited exactly once', findings.credits.length],
    ['differences of the audits, open holds', findings.ledger.length],
    ['uncollected, in VND (each at a balance of exactly 0)', vnd(verdict.audit.uncollectedMicroVnd)],
    ['lowest balance that was read', String(report.lowestBalance)],
    ['processes that exited by themselves', report.exits.length],
    ['files with a prompt, a key or a secret', report.leaks.length],
    ['Postgres ready → first good reply, ms', spread(report.databaseRecoveryMs)],
    ['start of a gateway → ready, spool replayed, ms', spread(report.bootMs)],
    ['all gateways ready again → no hold left, ms', Math.round(report.sweptMs)],
  ]
  return ['| what | figure |', '|---|--:|', ...rows.map(([name, value]) => `| ${name} | ${value} |`)].join('\n')
}

function vnd(microVnd: bigint): string {
  return (Number(microVnd) / 1e6).toFixed(2)
}

function spread(values: readonly number[]): string {
  if (values.length === 0) return '–'
  const sorted = values.toSorted((left, right) => left - right)
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] as number)
  return `median ${at(0.5)}, worst ${at(1)} (of ${sorted.length})`
}

export function countBy(values: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    [...Map.groupBy(values, value => value)].sort().map(([value, same]) => [value, same.length]),
  )
}

/** Returns the gateway runs that exited before they were ready because Postgres was unavailable. */
export function refusedStarts(gateways: readonly GatewayProcess[], away: readonly Outage[]): readonly ProcessRun[] {
  const wasAway = ({ startedAt, endedAt }: ProcessRun) =>
    away.some(({ from, to }) => startedAt < to && (endedAt ?? Date.now()) > from)
  return gateways
    .flatMap(gateway => gateway.runs)
    .filter(run => !run.wanted && run.endedAt !== null && run.readyAt === null && wasAway(run))
}

/** Describes the exits of gateways that the test did not kill, apart from `refusedStarts`. */
export function exitsOf(gateways: readonly GatewayProcess[], away: readonly Outage[]): string[] {
  const refused = new Set(refusedStarts(gateways, away))
  return gateways.flatMap(({ name, runs }) =>
    runs
      .filter(run => !run.wanted && run.endedAt !== null && !refused.has(run))
      .map(({ ended, lastWords }) => `${name}: code ${ended?.code}, signal ${ended?.signal}: ${lastWords}`),
  )
}
