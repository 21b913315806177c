/** The usage page's chart. Each bar links to the calls of its day or hour. */

import type { HourlyFigure } from '../../ledger/reports/types.ts'
import type { PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { shortDay } from '../view/format.ts'
import { type Chart, type ChartPoint, type ChartSlot, chartOf, daySlots, dongOf } from './chart.ts'
import type { Measure, UsageQuery } from './usage-query.ts'

export function usageChart(
  { query, language }: PageRequest,
  asked: UsageQuery,
  figures: readonly HourlyFigure[],
  labelOf: (series: string) => string,
): Chart {
  const hrefTo = (changes: Readonly<Record<string, string | null>>): string =>
    `/usage${query.with({ before: null, hour: null, per: null, ...changes })}#calls`
  const days = daySlots(asked, day => hrefTo({ from: day, to: day }))
  const slots = asked.per === 'day' ? days : days.flatMap(day => hourSlots(day, asked, hrefTo))
  return chartOf(
    figures.map(figure => ({ at: figure.at, series: figure.series, value: measured(figure, asked.measure) })),
    {
      titleKey: `usage.chart.${asked.measure}.${asked.per}`,
      slotKey: `usage.${asked.per}`,
      slots,
      unit: asked.measure === 'cost' ? '₫' : '',
      labelOf,
      other: text(language, 'usage.other'),
    },
  )
}

/** One slot for each hour of a day. The selected hour links back to the whole day. */
function hourSlots(
  { at: day, label }: ChartSlot,
  { from, to, hour }: UsageQuery,
  hrefTo: (changes: Readonly<Record<string, string | null>>) => string,
): ChartSlot[] {
  return Array.from({ length: 24 }, (_, each) => {
    const start = `${String(each).padStart(2, '0')}:00`
    const isChosen = each === hour
    const whole = { from: day, to: day, per: 'hour' }
    return {
      at: `${day}T${start.slice(0, 2)}`,
      label: `${label} ${hourRange(each)}`,
      short: from === to ? start : each === 0 ? shortDay(day) : '',
      href: hrefTo(isChosen ? whole : { ...whole, hour: String(each) }),
      isChosen,
    }
  })
}

/** Formats the hour 14 as `14:00–15:00`. */
export function hourRange(hour: number): string {
  const clock = (each: number): string => `${String(each).padStart(2, '0')}:00`
  return `${clock(hour)}–${clock(hour + 1)}`
}

function measured(figure: HourlyFigure, measure: Measure): ChartPoint['value'] {
  switch (measure) {
    case 'cost':
      return dongOf(figure.chargedMicroVnd)
    case 'calls':
      return figure.calls
    case 'tokens':
      return figure.inputTokens + figure.outputTokens
  }
}
