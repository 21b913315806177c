/**
 * Charts of stacked bars, drawn by the server so that they need no script. The largest series are shown by name, the rest
 * combined. Each bar may link to a page about its data.
 */

import { addDays } from '../../ledger/reports/days.ts'
import type { DailyFigure, Day } from '../../ledger/reports/types.ts'
import { MICRO_PER_VND, type MicroVnd } from '../../lib/money.ts'
import { day as calendarDay, chartFigure, chartTick, shortDay } from '../view/format.ts'

export interface ChartPoint {
  /** The `at` of the slot (the place of one bar) that the point belongs to. */
  readonly at: string
  /** Null for series that are too small to be named. */
  readonly series: string | null
  readonly value: number
}

export interface ChartSlot {
  readonly at: string
  readonly label: string
  /** Short label below the bar, shown if there is room; '' for none. */
  readonly short: string
  /** Where the bar links to; null if it is not a link. */
  readonly href: string | null
  /** True if the rest of the page shows only this slot. */
  readonly isChosen?: boolean
}

export interface ChartRequest {
  readonly titleKey: string
  /** Text key of the heading above the slots' labels in the table. */
  readonly slotKey: string
  readonly slots: readonly ChartSlot[]
  readonly unit: '₫' | ''
  readonly labelOf: (series: string) => string
  /** Label of the combined series, which are too small to be shown by name. */
  readonly other: string
}

interface Part {
  /** 1-based index of the series. */
  readonly series: number
  readonly y: number
  readonly height: number
}

interface Bar {
  readonly label: string
  readonly short: string | null
  /** True if the label is hidden on narrow screens. */
  readonly isMinor: boolean
  readonly href: string | null
  readonly isChosen: boolean
  readonly total: string
  /** Side on which the bar's tooltip opens, so that it stays on the page. */
  readonly side: 'start' | 'middle' | 'end'
  readonly parts: readonly Part[]
  /** Tooltip lines, one per series that is not 0. */
  readonly lines: readonly { readonly series: number; readonly label: string; readonly value: string }[]
}

export interface Chart {
  readonly titleKey: string
  readonly slotKey: string
  readonly series: readonly { readonly series: number; readonly label: string; readonly total: string }[]
  /** Labels of the grid lines, from top to bottom. */
  readonly ticks: readonly string[]
  readonly bars: readonly Bar[]
  readonly hasChosen: boolean
  /** The chart's data as a table, newest first, without empty slots. */
  readonly lines: readonly {
    readonly label: string
    readonly href: string | null
    readonly total: string
    readonly values: readonly string[]
  }[]
  readonly isEmpty: boolean
}

const SERIES_MAX = 5
/** Maximum number of labels below the bars. */
const LABELS_MAX = 8
/**
 * The chart's height in its own units. Small parts of a bar are drawn at least PART_HEIGHT_MIN high, so that they can be seen.
 */
const HEIGHT = 1_000
const PART_HEIGHT_MIN = 5

export function chartOf(points: readonly ChartPoint[], request: ChartRequest): Chart {
  const { titleKey, slotKey, slots, unit, labelOf, other } = request
  const series = rank(points, slots, { labelOf, other })
  const sums = slots.map((_, place) => series.reduce((sum, { values }) => sum + (values[place] ?? 0), 0))
  const { top, ticks } = scaleOf(Math.max(0, ...sums))
  const places = slots.flatMap(({ short }, place) => (short === '' ? [] : [place]))
  const every = Math.ceil(places.length / LABELS_MAX)
  const labels = new Map(places.filter((_, index) => index % every === 0).map((place, index) => [place, index]))
  const figure = (value: number): string => chartFigure(value, unit)
  const bars = slots.map((slot, place): Bar => {
    const shown = series.map(({ label, values }, index) => ({ series: index + 1, label, value: values[place] ?? 0 }))
    const part = slots.length === 1 ? 0.5 : place / (slots.length - 1)
    return {
      label: slot.label,
      short: labels.has(place) ? slot.short : null,
      isMinor: (labels.get(place) ?? 0) % 2 === 1,
      href: sums[place] === 0 ? null : slot.href,
      isChosen: slot.isChosen === true,
      total: figure(sums[place] ?? 0),
      side: part < 0.3 ? 'start' : part > 0.7 ? 'end' : 'middle',
      parts: stack(shown, top),
      lines: shown.filter(({ value }) => value !== 0).map(line => ({ ...line, value: figure(line.value) })),
    }
  })
  return {
    titleKey,
    slotKey,
    series: series.map(({ label, sum }, index) => ({ series: index + 1, label, total: figure(sum) })),
    ticks: ticks.map(tick => chartTick(tick)),
    bars,
    hasChosen: slots.some(({ isChosen }) => isChosen === true),
    lines: bars
      .map(({ label, href, total }, place) => {
        return { label, href, total, values: series.map(({ values }) => figure(values[place] ?? 0)), sum: sums[place] }
      })
      .filter(({ sum }) => sum !== 0)
      .reverse(),
    isEmpty: sums.every(sum => sum === 0),
  }
}

interface Series {
  readonly label: string
  readonly values: readonly number[]
  readonly sum: number
}

/**
 * Ranks the series, largest first, and combines the smallest. Leaves out series whose values are all 0, e.g. refused calls in a
 * chart of costs.
 */
function rank(
  points: readonly ChartPoint[],
  slots: readonly ChartSlot[],
  { labelOf, other }: Pick<ChartRequest, 'labelOf' | 'other'>,
): readonly Series[] {
  const places = new Map(slots.map(({ at }, place) => [at, place]))
  const found = new Map<string, number[]>()
  const unnamed = slots.map(() => 0)
  for (const { at, series, value } of points) {
    const place = places.get(at)
    if (place === undefined) continue
    const values = series === null ? unnamed : (found.get(series) ?? slots.map(() => 0))
    values[place] = (values[place] ?? 0) + value
    if (series !== null) found.set(series, values)
  }
  const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
  const ranked = [...found]
    .filter(([, values]) => values.some(value => value !== 0))
    .map(([name, values]) => ({ label: labelOf(name), values, sum: sumOf(values) }))
    .sort((left, right) => right.sum - left.sum)
  const rest = ranked.slice(SERIES_MAX)
  if (rest.length === 0 && sumOf(unnamed) === 0) return ranked
  const values = unnamed.map((start, place) => rest.reduce((sum, each) => sum + (each.values[place] ?? 0), start))
  return [...ranked.slice(0, SERIES_MAX), { label: other, values, sum: sumOf(values) }]
}

/** Stacks the parts of a bar from the bottom of the chart up. */
function stack(values: readonly { readonly series: number; readonly value: number }[], top: number): Part[] {
  let foot = HEIGHT
  return values.flatMap(({ series, value }) => {
    if (value <= 0) return []
    const height = Math.min(foot, Math.max(PART_HEIGHT_MIN, Math.round((value / top) * HEIGHT)))
    foot -= height
    return [{ series, y: foot, height }]
  })
}

/** Chooses up to five evenly spaced grid lines at round values, listed from top to bottom. */
function scaleOf(max: number): { readonly top: number; readonly ticks: readonly number[] } {
  if (max <= 0) return { top: 1, ticks: [] }
  const magnitude = 10 ** Math.floor(Math.log10(max / 4))
  const step = magnitude * ([1, 2, 2.5, 5, 10].find(each => magnitude * each * 4 >= max) ?? 10)
  const count = Math.max(1, Math.ceil(max / step))
  return { top: step * count, ticks: Array.from({ length: count + 1 }, (_, index) => step * (count - index)) }
}

export function daySlots(
  { from, to }: { readonly from: Day; readonly to: Day },
  hrefOf: (day: Day) => string | null,
): ChartSlot[] {
  const slots: ChartSlot[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) {
    slots.push({ at: day, label: calendarDay(day), short: shortDay(day), href: hrefOf(day) })
  }
  return slots
}

/** Turns daily charges into chart points. Charts need no exact amounts, so dong as a `number` will do. */
export function chargesByDay(figures: readonly DailyFigure[]): ChartPoint[] {
  return figures.map(({ day, series, chargedMicroVnd }) => ({ at: day, series, value: dongOf(chargedMicroVnd) }))
}

export function dongOf(amount: MicroVnd): number {
  return Number(amount) / Number(MICRO_PER_VND)
}
