/**
 * Tells a leak from noise by the median of the slopes between all pairs of points (Theil–Sen), which ignores outliers and
 * sawteeth. A series has a segment for each process that was measured, and only points of the same segment are compared.
 */

export interface Point {
  /** Time in ms, from any monotonic clock. */
  readonly atMs: number
  readonly value: number
}

export interface Bound {
  /** Allowed growth per hour, as a fraction of the series' median. */
  readonly perHour: number
  /** Growth over the longest segment, in units of the series, up to which nothing is reported. */
  readonly floor: number
}

export interface Series extends Bound {
  readonly name: string
  readonly unit: string
  readonly segments: readonly (readonly Point[])[]
}

export interface Judgement {
  readonly name: string
  readonly unit: string
  /** Median of the values used for the verdict. */
  readonly level: number
  /** The median slope, in units of the series per hour. */
  readonly slopePerHour: number
  /** How much the series grew over its longest segment, according to the slope; `allowed` is the most that it may grow. */
  readonly growth: number
  readonly allowed: number
  readonly points: number
  /** `few` means that there are too few points to tell. */
  readonly verdict: 'flat' | 'grows' | 'few'
}

const HOUR_MS = 3_600_000
const POINTS_MIN = 8

export function judgeSeries({ name, unit, segments, perHour, floor }: Series): Judgement {
  const known = segments.filter(segment => segment.length >= POINTS_MIN)
  const points = known.flat()
  const level = median(points.map(({ value }) => value))
  const slopePerHour = median(known.flatMap(slopes)) * HOUR_MS
  const hours = Math.max(0, ...known.map(spanMs)) / HOUR_MS
  const growth = slopePerHour * hours
  const allowed = Math.max(perHour * hours * level, floor)
  const verdict = known.length === 0 ? 'few' : growth > allowed ? 'grows' : 'flat'
  return { name, unit, level, slopePerHour, growth, allowed, points: points.length, verdict }
}

/** The series from `atMs` on. */
export function since(series: Series, atMs: number): Series {
  const segments = series.segments.map(segment => segment.filter(point => point.atMs >= atMs))
  return { ...series, segments }
}

/** The slopes between all pairs of points, per ms. */
function slopes(points: readonly Point[]): number[] {
  return points.flatMap((from, index) =>
    points
      .slice(index + 1)
      .flatMap(to => (to.atMs > from.atMs ? [(to.value - from.value) / (to.atMs - from.atMs)] : [])),
  )
}

function spanMs(points: readonly Point[]): number {
  return (points.at(-1)?.atMs ?? 0) - (points[0]?.atMs ?? 0)
}

/** The median of the values; 0 if there are none. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return 0
  const sorted = values.toSorted((left, right) => left - right)
  const middle = sorted.length >> 1
  if (sorted.length % 2 === 1) return sorted[middle] as number
  return ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}
