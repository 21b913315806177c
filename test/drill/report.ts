/** Formats the results of a drill as a table, and lists what was lost. */

import type { Findings } from '../fault/support/check.ts'

/** A disk loss and the recovery from it. */
export interface Recovery {
  readonly how: string
  /** Number of calls whose clients had received the complete reply before the loss. */
  readonly calls: number
  /** Number of the `calls` that had no charge before the spools were replayed. */
  readonly withoutCharge: number
  /** Number of the `calls` that still had no charge afterwards. */
  readonly lost: number
  /** Number of acknowledged top-ups that were missing after the recovery. */
  readonly creditsGone: number
  /** Number of acknowledged top-ups that were still missing after the bank had repeated its notifications. */
  readonly creditsLost: number
  /** Time from the loss until Postgres accepted writes again. */
  readonly restoredMs: number
  /** Time from when Postgres accepted writes until the first call was served. */
  readonly servedMs: number
  /** Time from when Postgres accepted writes until all calls were charged. */
  readonly chargedMs: number
  readonly findings: Findings
}

export interface DrillReport {
  readonly seconds: number
  readonly backupMs: number
  readonly baseBackupMs: number
  readonly recoveries: readonly Recovery[]
  /** The point-in-time recovery, to a moment while the load was running. */
  readonly moment: {
    /** Number of calls from before that moment that are missing. */
    readonly missing: number
    /** Number of calls from after that moment that should not be there but are. */
    readonly beyond: number
    readonly differences: number
    readonly ms: number
  }
}

/** Lists what was lost; empty if nothing was. */
export function findingsOf({ recoveries, moment }: DrillReport): string[] {
  return [
    ...recoveries.flatMap(({ how, lost, creditsLost, findings }) => [
      ...(lost > 0 ? [`${how}: ${lost} whole replies without a charge`] : []),
      ...(creditsLost > 0 ? [`${how}: ${creditsLost} acknowledged top-ups lost`] : []),
      ...Object.entries(findings).flatMap(([name, list]) =>
        (list as readonly string[]).map(line => `${how}: ${name}: ${line}`),
      ),
    ]),
    ...(moment.missing > 0 ? [`${moment.missing} calls before the recovered moment are missing`] : []),
    ...(moment.beyond > 0 ? [`${moment.beyond} calls from after the recovered moment are there`] : []),
    ...(moment.differences > 0 ? [`the audit of the recovered moment finds ${moment.differences} differences`] : []),
  ]
}

export function tableOf({ seconds, backupMs, baseBackupMs, recoveries, moment }: DrillReport): string {
  const row = (what: string, pick: (recovery: Recovery) => string | number) =>
    `| ${what} | ${recoveries.map(pick).join(' | ')} |`
  return [
    `${seconds.toFixed(0)} s; backup to a file ${inSeconds(backupMs)}, base backup ${inSeconds(baseBackupMs)}, both under load.`,
    `Recovery to a moment: ${inSeconds(moment.ms)}, ${moment.missing} calls missing, ${moment.beyond} too many.`,
    '',
    `| After the loss of the disk | ${recoveries.map(({ how }) => how).join(' | ')} |`,
    `|---|${'--:|'.repeat(recoveries.length)}`,
    row('Calls with a whole reply before the loss', ({ calls }) => calls),
    row('Of these, not in what was restored', ({ withoutCharge }) => withoutCharge),
    row('**Of these, not charged after the spools were replayed**', ({ lost }) => lost),
    row('Acknowledged top-ups not in what was restored', ({ creditsGone }) => creditsGone),
    row('**Not credited after the bank repeated its notifications**', ({ creditsLost }) => creditsLost),
    row('Loss → Postgres takes writes', ({ restoredMs }) => inSeconds(restoredMs)),
    row('→ first call served', ({ servedMs }) => inSeconds(servedMs)),
    row('→ everything charged', ({ chargedMs }) => inSeconds(chargedMs)),
  ].join('\n')
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
