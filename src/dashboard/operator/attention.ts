/** Lists what needs an operator's attention, worst first, with links to the pages where it can be dealt with. */

import { mayDo, type OperatorNeed } from '../../accounts/roles.ts'
import { readLastAudit } from '../../audit/last.ts'
import type { ModelDay } from '../../ledger/reports/business.ts'
import { readTroubledAccounts, type TroubledAccounts } from '../../ledger/reports/desk.ts'
import { readSetAside } from '../../ledger/set-aside-report.ts'
import { microVnd } from '../../lib/money.ts'
import { readMaintenance } from '../../operations/maintenance.ts'
import { readUnknownModels } from '../../operations/unknown-models.ts'
import { countUnmatched } from '../../payments/unmatched.ts'
import type { PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { day as calendarDay, count, dong, dongShort, percent, time } from '../view/format.ts'
import { JUDGED_DAYS, lossesOf } from './business.ts'
import { callsAsked } from './frame.ts'
import { isFailing, readUpstreamViews } from './upstream-view.ts'

export interface Attention {
  readonly tone: 'bad' | 'warn'
  readonly label: string
  readonly detail: string
  readonly href: string
  /** The first few customers or models concerned; `more` counts the others. */
  readonly names: readonly Named[]
  readonly more: number
}

interface Named {
  readonly label: string
  readonly href: string
  /** Shown in brackets after the label. */
  readonly note: string | null
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Maximum number of customers or models that one line of the attention list names. */
const NAMED_MAX = 3
/** A customer needs help if at least this many of their calls failed today, and at least this share of them. */
export const FAILING_CUSTOMER = { errorsMin: 20, shareMin: 0.2 } as const
const ENDING_DAYS = 60
const UNKNOWN_DAYS = 7
const UNKNOWN_NAMES_MAX = 200

type Check = (request: PageRequest, models: Promise<readonly ModelDay[]>) => Promise<readonly Attention[]>

/** The checks, each with the permission that the operator's role needs for it. */
const CHECKS: readonly (readonly [OperatorNeed, Check])[] = [
  ['read', maintenance],
  ['read', audit],
  ['read', spools],
  ['read', upstreams],
  ['read', transfers],
  ['read', customers],
  ['business', losses],
  ['read', endings],
  ['read', unknownNames],
]

/** `models`: figures of the last JUDGED_DAYS days or more. */
export async function readAttention(
  request: PageRequest,
  models: Promise<readonly ModelDay[]>,
): Promise<readonly Attention[]> {
  const role = request.session?.role ?? null
  const checks = CHECKS.filter(([need]) => mayDo(role, need))
  const found = (await Promise.all(checks.map(([, check]) => check(request, models)))).flat()
  return found.toSorted((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'))
}

function item(
  { language }: PageRequest,
  tone: Attention['tone'],
  name: string,
  href: string,
  values: Readonly<Record<string, unknown>> = {},
  names: readonly Named[] = [],
): Attention {
  const label = text(language, `operator.attention.${name}` as TextKey, values)
  const detail = text(language, `operator.attention.${name}.detail` as TextKey, values)
  const shown = names.slice(0, NAMED_MAX)
  return { tone, label, detail, href, names: shown, more: Number(values.total ?? names.length) - shown.length }
}

async function maintenance(request: PageRequest): Promise<readonly Attention[]> {
  const { enabled } = await readMaintenance(request.options.sql)
  return enabled ? [item(request, 'bad', 'maintenance', '#maintenance')] : []
}

async function audit(request: PageRequest): Promise<readonly Attention[]> {
  const last = await readLastAudit(request.options.sql)
  if (last === null || Object.keys(last.broken).length === 0) return []
  const rules = Object.entries(last.broken).map(([rule, found]) => `${rule}: ${found}`)
  return [item(request, 'bad', 'audit', '#audit', { rules: rules.join(', '), time: time(last.at) })]
}

async function spools(request: PageRequest): Promise<readonly Attention[]> {
  const found = await readSetAside(request.options.sql)
  if (found.length === 0) return []
  const sum = (pick: (spool: (typeof found)[number]) => number) => found.reduce((all, spool) => all + pick(spool), 0)
  const values = { lines: sum(({ lines }) => lines), files: sum(({ files }) => files) }
  return [
    item(request, 'bad', 'spools', '#audit', { ...values, folders: found.map(({ folder }) => folder).join(', ') }),
  ]
}

async function upstreams(request: PageRequest): Promise<readonly Attention[]> {
  const views = await readUpstreamViews(request, new Date(request.now.getTime() - HOUR_MS))
  const troubles = views.flatMap(view => {
    const { id, out, figures, openIn, stateText } = view
    const href = `/operator/upstreams/${encodeURIComponent(id)}`
    if (out !== null)
      return [item(request, 'warn', 'upstream_out', href, { id, time: time(out.until), reason: out.reason })]
    if (!isFailing(view)) return []
    const share = figures === null ? null : percent(figures.failures / Math.max(1, figures.attempts))
    const failed = share === null ? null : text(request.language, 'operator.attention.upstream.share', { share })
    const why = [openIn > 0 ? stateText : null, failed].filter(part => part !== null)
    return [item(request, 'bad', 'upstream', href, { id, why: why.join('; ') })]
  })
  return [...troubles, ...unserved(request, new Set(views.map(({ id }) => id)))]
}

/** Models that are in the price list although no upstream of theirs has a credential. */
function unserved(request: PageRequest, callable: ReadonlySet<string>): readonly Attention[] {
  const { catalogue } = request.options
  const entries = catalogue.items
    .filter(each => !catalogue.isRetired(each))
    .map(({ entry }) => entry)
    .filter(entry => !entry.upstreams.some(({ via }) => callable.has(via)))
  if (entries.length === 0) return []
  const without = [...new Set(entries.flatMap(entry => entry.upstreams.map(({ via }) => via)))].toSorted()
  const names = entries.map(({ id }) => nameOf(id, `/models/${id}`))
  const values = { count: entries.length, upstreams: without.join(', ') }
  return [item(request, 'warn', 'unserved', '/operator/upstreams', values, names)]
}

async function transfers(request: PageRequest): Promise<readonly Attention[]> {
  const { transactions, amountVnd } = await countUnmatched(request.options.payments)
  if (transactions === 0) return []
  const values = { count: count(transactions), amount: dong(amountVnd) }
  return [item(request, 'bad', 'transfers', '/operator/transfers', values)]
}

async function customers(request: PageRequest): Promise<readonly Attention[]> {
  const { options, now } = request
  const { failing, empty } = await readTroubledAccounts(options.sql, { now, ...FAILING_CUSTOMER, limit: NAMED_MAX })
  const failed = failing.accounts.map(({ accountId, email, calls, errors }) =>
    nameOf(email, `/operator/calls?account=${accountId}&status=error`, `${count(errors)}\u00a0/\u00a0${count(calls)}`),
  )
  const emptied = empty.accounts.map(({ accountId, email, calls }) =>
    nameOf(email, `/operator/accounts/${accountId}`, count(calls)),
  )
  return [...troubled(request, 'failing', failing, failed), ...troubled(request, 'empty', empty, emptied)]
}

function troubled(
  request: PageRequest,
  show: 'failing' | 'empty',
  { total }: TroubledAccounts,
  names: readonly Named[],
): readonly Attention[] {
  if (total === 0) return []
  return [item(request, 'warn', show, `/operator/accounts?show=${show}`, { count: count(total), total }, names)]
}

async function losses(request: PageRequest, models: Promise<readonly ModelDay[]>): Promise<readonly Attention[]> {
  const found = lossesOf(await models, request.now)
  if (found.length === 0) return []
  const names = found.map(({ series }) => nameOf(series, `/operator/calls?model=${encodeURIComponent(series)}`))
  const lost = found.reduce((sum, { costMicroVnd, revenueMicroVnd }) => sum + costMicroVnd - revenueMicroVnd, 0n)
  const values = { count: found.length, days: JUDGED_DAYS, amount: dongShort(microVnd(lost)) }
  return [item(request, 'warn', 'losses', '/operator/business#below-cost', values, names)]
}

function nameOf(label: string, href: string, note: string | null = null): Named {
  return { label, href, note }
}

async function endings(request: PageRequest): Promise<readonly Attention[]> {
  const { options, now } = request
  const dated = options.catalogue.items.flatMap(({ entry }) => {
    const endsOn = entry.deprecated?.retiresOn ?? null
    return endsOn === null ? [] : [{ entry, endsOn, inMs: Date.parse(`${endsOn}T00:00:00Z`) - now.getTime() }]
  })
  const list = (name: string, tone: Attention['tone'], some: typeof dated) => {
    if (some.length === 0) return []
    const sorted = some.toSorted((one, other) => one.inMs - other.inMs)
    const names = sorted.map(({ entry, endsOn }) => nameOf(entry.id, `/models/${entry.id}`, calendarDay(endsOn)))
    const values = { count: some.length, days: ENDING_DAYS }
    return [item(request, tone, name, `/models/${sorted[0]?.entry.id}`, values, names)]
  }
  return [
    ...list(
      'ended',
      'bad',
      dated.filter(({ entry }) => options.catalogue.hasEnded(entry)),
    ),
    ...list(
      'endings',
      'warn',
      dated.filter(({ inMs }) => inMs > 0 && inMs <= ENDING_DAYS * DAY_MS),
    ),
  ]
}

async function unknownNames(request: PageRequest): Promise<readonly Attention[]> {
  const { sql, catalogue } = request.options
  const found = await readUnknownModels(sql, { days: UNKNOWN_DAYS, limit: UNKNOWN_NAMES_MAX })
  const open = found.filter(({ name, fellBack }) => fellBack > 0 && catalogue.resolve(name) === null)
  if (open.length === 0) return []
  const calls = open.reduce((sum, { fellBack }) => sum + fellBack, 0)
  const names = open.map(({ name }) => nameOf(name, callsAsked(name)))
  const values = { count: open.length, calls: count(calls), days: UNKNOWN_DAYS }
  return [item(request, 'warn', 'unknown', '/operator/models', values, names)]
}
