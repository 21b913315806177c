/** Renders a catalogue diff as Markdown, for the people who approve it. */

import type { Price } from '../../src/generated/types.ts'
import { percent, vnd } from '../margin/table.ts'
import {
  type Acknowledgement,
  type CatalogueDiff,
  type ExtraChange,
  missingAcknowledgements,
  type PriceChange,
} from './diff.ts'
import { effectOf } from './extras.ts'
import type { FactChange } from './fact-changes.ts'
import { describeTarget } from './facts.ts'
import type { UsageEffect } from './usage.ts'

const NAMES_SHOWN = 3
const MARGINS_SHOWN = 30

export function renderMarkdown(
  diff: CatalogueDiff,
  base: string,
  thresholdPercent: number,
  usage?: UsageEffect,
): string {
  const parts = [`## Catalogue against ${base}`, summarise(diff, thresholdPercent)]
  if (diff.prices.length > 0) {
    parts.push(
      table(
        'Prices',
        ['name', 'old', 'new', 'change', ''],
        diff.prices.map(change => priceRow(change)),
      ),
    )
  }
  if (diff.margins.length > 0) parts.push(renderMargins(diff.margins))
  if (diff.added.length > 0) {
    const rows = diff.added.map(entry => [
      code(entry.id),
      entry.name,
      price(entry.price),
      entry.upstreams.map(describeTarget).join(', '),
    ])
    parts.push(table('Added entries', ['entry', 'name', 'price', 'upstream'], rows))
  }
  if (diff.removed.length > 0) {
    const rows = diff.removed.map(entry => [
      code(entry.id),
      entry.name,
      price(entry.price),
      entry.servedBy === null ? 'nothing' : code(entry.servedBy),
    ])
    parts.push(table('Removed entries', ['entry', 'name', 'price', 'served from now on by'], rows))
  }
  if (diff.facts.length > 0) parts.push(table('Facts', ['entries', 'what', 'old', 'new'], diff.facts.map(factRow)))
  if (diff.extras.length > 0)
    parts.push(table('Extras', ['entries', 'what', 'old', 'new', 'effect'], diff.extras.map(extraRow)))
  if (diff.settings.length > 0)
    parts.push(table('Settings', ['where', 'what', 'old', 'new'], diff.settings.map(factRow)))
  if (usage !== undefined) parts.push(renderUsage(usage))
  return `${parts.join('\n\n')}\n`
}

export function summarise(diff: CatalogueDiff, thresholdPercent: number): string {
  const counts = [
    count(diff.prices.length, 'price'),
    count(diff.facts.length + diff.extras.length + diff.settings.length, 'other fact'),
  ].filter(text => text !== '')
  const parts = counts.length > 0 ? [`${counts.join(' and ')} changed`] : []
  if (diff.added.length > 0) parts.push(`${count(diff.added.length, 'entry', 'entries')} added`)
  if (diff.removed.length > 0) parts.push(`${count(diff.removed.length, 'entry', 'entries')} removed`)
  if (parts.length === 0) return 'No difference.'
  const open = missingAcknowledgements(diff)
  const verdict =
    open.length === 0
      ? ''
      : ` **${count(open.length, 'price change')} beyond ±${thresholdPercent} % ${open.length === 1 ? 'is' : 'are'} not acknowledged in catalogue.yaml: ${open.map(change => change.name).join(', ')}.**`
  return `${parts.join(', ')}.${verdict}`
}

/** Writes the lines that acknowledge these prices in catalogue.yaml, ready to paste. */
export function acknowledgementLines(open: readonly Acknowledgement[]): string {
  const lines = open.map(
    ({ name, price }) => `  - { name: ${name}, price: { vnd: ${price.vnd}, per: ${price.per} }, reason: "…" }`,
  )
  return ['acknowledged:', ...lines].join('\n')
}

function count(number: number, one: string, many = `${one}s`): string {
  return number === 0 ? '' : `${number} ${number === 1 ? one : many}`
}

function renderMargins(margins: CatalogueDiff['margins']): string {
  const shown = margins.slice(0, MARGINS_SHOWN).map(change => {
    const side = (margin: typeof change.old) =>
      margin === null ? ['unknown', ''] : [vnd(margin.costMicroVnd), percent(margin.marginPercent)]
    return [code(change.name), change.mix.replace('_', ' '), ...side(change.old), ...side(change.new)]
  })
  const rest = margins.length - shown.length
  const note = rest > 0 ? `\n\nAnd ${rest} more; \`catalogue margin\` shows all.` : ''
  return table('Margins', ['entry', 'mix', 'cost before', 'margin before', 'cost now', 'margin now'], shown) + note
}

function priceRow(change: PriceChange): string[] {
  const name =
    change.kind === 'entry' ? code(change.name) : `${change.kind} ${code(change.name)} → ${code(change.servedBy)}`
  const percent = change.percent === null ? 'other unit' : formatPercent(change.percent)
  return [name, price(change.old), price(change.new), percent, acknowledgement(change)]
}

function acknowledgement({ isLarge, isAcknowledged }: { isLarge: boolean; isAcknowledged: boolean }): string {
  return !isLarge ? '' : isAcknowledged ? 'acknowledged' : '**not acknowledged**'
}

function factRow(change: FactChange): string[] {
  const shown = change.names.slice(0, NAMES_SHOWN).map(code).join(', ')
  const rest = change.names.length - NAMES_SHOWN
  return [rest > 0 ? `${shown} and ${rest} more` : shown, change.what, change.old, change.new]
}

function extraRow(change: ExtraChange): string[] {
  const parts = [effectOf(change), acknowledgement(change)].filter(part => part !== '')
  return [...factRow(change), parts.join('; ')]
}

function renderUsage(usage: UsageEffect): string {
  const changed = usage.rows.filter(row => row.oldVnd !== row.newVnd)
  const rows = changed.map(row => [
    code(row.name),
    String(row.calls),
    group(row.oldVnd),
    group(row.newVnd),
    effect(row.oldVnd, row.newVnd),
  ])
  const calls = usage.rows.reduce((sum, row) => sum + row.calls, 0)
  const total = [
    `**all ${usage.rows.length} names**`,
    String(calls),
    group(usage.oldVnd),
    group(usage.newVnd),
    effect(usage.oldVnd, usage.newVnd),
  ]
  const notes =
    usage.unknown.length === 0
      ? ''
      : `\n\nLeft out, because the base does not know them: ${usage.unknown.map(code).join(', ')}.`
  return (
    table('Effect on the usage given, in VND', ['entry', 'charged calls', 'old', 'new', 'change'], [...rows, total]) +
    notes
  )
}

function effect(oldVnd: bigint, newVnd: bigint): string {
  if (oldVnd === 0n) return newVnd === 0n ? '0.0 %' : 'new'
  return formatPercent(Number(((newVnd - oldVnd) * 1_000_000n) / oldVnd) / 10_000)
}

function formatPercent(percent: number): string {
  return `${percent > 0 ? '+' : percent < 0 ? '−' : ''}${Math.abs(percent).toFixed(1)} %`
}

function price({ vnd, per }: Price): string {
  return `${group(BigInt(vnd))} / ${per}`
}

function group(number: bigint): string {
  return String(number).replace(/\B(?=(\d{3})+$)/g, ',')
}

function code(text: string): string {
  return `\`${text}\``
}

function table(title: string, head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
  return [`### ${title}`, '', line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
