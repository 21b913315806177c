/** Daily values as a stacked chart: the largest series by name, the rest combined. */

import { addDays } from '../../ledger/reports/days.ts'
import type { DailyFigure } from '../../ledger/reports/types.ts'
import { MICRO_PER_VND } from '../../lib/money.ts'
import { day as calendarDay, chartFigure } from '../view/format.ts'
import type { UsageQuery } from './usage-query.ts'

export interface Chart {
  /** Text key of what is drawn. */
  readonly titleKey: string
  readonly days: readonly string[]
  /** In VND, calls or tokens. One value per day. */
  readonly series: readonly { readonly label: string; readonly values: readonly number[] }[]
  readonly unit: '₫' | ''
  /** The same as a table for screen readers, newest day first. */
  readonly lines: readonly { readonly day: string; readonly values: readonly string[] }[]
  readonly isEmpty: boolean
}

const SERIES_MAX = 5

export function chartOf(
  figures: readonly DailyFigure[],
  { from, to, measure }: Pick<UsageQuery, 'from' | 'to' | 'measure'>,
  { labelOf, other }: { labelOf: (series: string) => string; other: string },
): Chart {
  const days: string[] = []
  for (let day = from; day <= to; day = addDays(day, 1)) days.push(day)
  const index = new Map(days.map((day, position) => [day, position]))
  const series = new Map<string, number[]>()
  for (const figure of figures) {
    const position = index.get(figure.day)
    if (position === undefined) continue
    const values = series.get(figure.series) ?? days.map(() => 0)
    values[position] = (values[position] ?? 0) + measured(figure, measure)
    series.set(figure.series, values)
  }
  const ranked = [...series.entries()]
    .map(([name, values]) => ({ label: labelOf(name), values, sum: values.reduce((sum, value) => sum + value, 0) }))
    .sort((left, right) => right.sum - left.sum)
  const shown = ranked.slice(0, SERIES_MAX)
  const rest = ranked.slice(SERIES_MAX)
  if (rest.length > 0) {
    const values = days.map((_, position) => rest.reduce((sum, { values }) => sum + (values[position] ?? 0), 0))
    shown.push({ label: other, values, sum: 0 })
  }
  const unit = measure === 'cost' ? '₫' : ''
  return {
    titleKey: `usage.chart.${measure}`,
    days,
    series: shown.map(({ label, values }) => ({ label, values })),
    unit,
    lines: days
      .map((day, position) => ({ day, values: shown.map(({ values }) => values[position] ?? 0) }))
      .filter(({ values }) => values.some(value => value !== 0))
      .map(({ day, values }) => ({ day: calendarDay(day), values: values.map(value => chartFigure(value, unit)) }))
      .reverse(),
    isEmpty: ranked.every(({ sum }) => sum === 0),
  }
}

/** A chart needs no exact amounts, so a number of dong will do. */
function measured(figure: DailyFigure, measure: UsageQuery['measure']): number {
  switch (measure) {
    case 'cost':
      return Number(figure.chargedMicroVnd) / Number(MICRO_PER_VND)
    case 'calls':
      return figure.calls
    case 'tokens':
      return figure.inputTokens + figure.outputTokens
  }
}
