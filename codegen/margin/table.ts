/** Renders margins as text for a terminal. */

import { type EntryMargin, loses } from './margins.ts'
import { MIXES } from './mixes.ts'
import type { UsageMargins } from './usage.ts'

const UNKNOWN = 'unknown'
const MICRO = 1_000_000n

/** A row for each entry: cost in whole dong, and margin in percent of the price, for each of its usage mixes (see mixes.ts). */
export function marginTable(margins: readonly EntryMargin[], usage?: UsageMargins): string {
  const tokens = (['agent', 'chat', 'no_cache'] as const).map(name => MIXES.find(mix => mix.name === name)?.title)
  const others = (['call', 'image', 'speech'] as const).map(name => MIXES.find(mix => mix.name === name)?.title)
  const rows = margins.map(({ id, price, mixes }) => {
    const cells = [0, 1, 2].flatMap(index => {
      const mix = mixes[index]
      const isKnownElsewhere = index > 0 && price.per !== 'mtok'
      return mix === undefined
        ? [isKnownElsewhere ? '' : UNKNOWN, '']
        : [vnd(mix.costMicroVnd), percent(mix.marginPercent)]
    })
    return [id, vnd(BigInt(price.vnd) * MICRO), price.per, ...cells]
  })
  const head = ['entry', 'VND', 'per', 'agent or unit', '', 'chat', '', 'no cache', '']
  const unknown = margins.filter(({ mixes }) => mixes.length === 0).length
  const losing = margins.filter(loses).length
  return [
    ...(usage === undefined ? [] : [usageTable(usage), '']),
    columns([head, ...rows]),
    '',
    `What the unit costs in VND, and the margin. ${losing} of ${margins.length} entries lose money; the cost of ${unknown} is unknown.`,
    `Per 1M tokens: ${tokens.join('; ')}.`,
    `Otherwise: ${others.join('; ')}.`,
  ].join('\n')
}

function usageTable(usage: UsageMargins): string {
  const rows = usage.rows.map(row => [
    row.name,
    String(row.calls),
    vnd(row.revenueMicroVnd),
    row.costMicroVnd === null ? UNKNOWN : vnd(row.costMicroVnd),
    row.marginMicroVnd === null ? '' : vnd(row.marginMicroVnd),
    row.marginPercent === null ? '' : percent(row.marginPercent),
  ])
  const { revenueMicroVnd: revenue, costMicroVnd: cost } = usage
  const total = ['all with known cost', '', vnd(revenue), vnd(cost), vnd(revenue - cost), '']
  return [
    "The given usage at today's prices and costs, in VND:",
    columns([['entry', 'charged calls', 'revenue', 'cost', 'margin', ''], ...rows, total], 1),
    ...(usage.unknown.length === 0
      ? []
      : [`Left out because they are not in the catalogue: ${usage.unknown.join(', ')}.`]),
  ].join('\n')
}

/** Aligns the first columns, which contain text, to the left, and numbers to the right. */
function columns(rows: readonly (readonly string[])[], textColumns = 3): string {
  const isText = (column: number) => column === 0 || (textColumns === 3 && column === 2)
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map(row => (row[column] ?? '').length)))
  return rows
    .map(row =>
      row
        .map((cell, column) => (isText(column) ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** Rounds an amount to whole dong. */
export function vnd(microVnd: bigint): string {
  const magnitude = microVnd < 0n ? -microVnd : microVnd
  const whole = (magnitude + MICRO / 2n) / MICRO
  return `${microVnd < 0n && whole > 0n ? '−' : ''}${String(whole).replace(/\B(?=(\d{3})+$)/g, ',')}`
}

export function percent(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)} %`
}
