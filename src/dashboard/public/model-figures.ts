/**
 * Success rates and times to first byte of models over the last seven days. Each process caches them, so page views cost no
 * queries. A page waits only briefly for a refresh, and is shown without figures while the database is unavailable.
 */

import { setTimeout } from 'node:timers/promises'
import { type ModelFigures, readModelFigures } from '../../ledger/reports/model-figures.ts'
import type { DashboardOptions } from '../options.ts'

export type FiguresByEntry = ReadonlyMap<string, ModelFigures>

const DAYS = 7
const DAY_MS = 86_400_000
const NONE: FiguresByEntry = new Map()

interface Cache {
  figures: FiguresByEntry
  /** When the figures are due to be read again, in ms since 1970. */
  dueMs: number
  reading: Promise<void>
}

const caches = new WeakMap<DashboardOptions, Cache>()

/**
 * Returns the cached figures. If they are older than `modelFiguresSeconds`, reads them again, but waits only briefly for that.
 */
export async function latestFigures(options: DashboardOptions): Promise<FiguresByEntry> {
  const { limits, now, sql, log } = options
  const cache = caches.get(options) ?? { figures: NONE, dueMs: 0, reading: Promise.resolve() }
  caches.set(options, cache)
  const nowMs = now().getTime()
  if (nowMs >= cache.dueMs) {
    cache.dueMs = nowMs + limits.modelFiguresSeconds * 1000
    cache.reading = readModelFigures(sql, new Date(nowMs - DAYS * DAY_MS)).then(
      figures => {
        cache.figures = figures
      },
      cause => log.warn({ cause }, 'cannot read the figures of models; their pages are shown without them'),
    )
  }
  const waiting = new AbortController()
  await Promise.race([
    cache.reading,
    setTimeout(limits.modelFiguresWaitMs, null, { signal: waiting.signal }).catch(() => {}),
  ])
  waiting.abort()
  return cache.figures
}

export interface FiguresView {
  /** Share of calls that were served, from 0 to 1. */
  readonly servedShare: number | null
  readonly firstByteMs: number | null
}

/** The figures of one entry; null where too few calls were made for them to mean anything. */
export function figuresView(
  figures: FiguresByEntry,
  entryId: string,
  { modelFiguresCallsMin }: DashboardOptions['limits'],
): FiguresView {
  const found = figures.get(entryId)
  const firstByte = found?.firstByte ?? null
  return {
    servedShare: found !== undefined && found.calls >= modelFiguresCallsMin ? found.servedShare : null,
    firstByteMs: firstByte !== null && firstByte.calls >= modelFiguresCallsMin ? firstByte.medianMs : null,
  }
}
