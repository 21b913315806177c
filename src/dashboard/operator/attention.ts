/** What needs an operator's attention, each with the page where it is dealt with; the worst first. */

import { mayDo, type OperatorNeed } from '../../accounts/roles.ts'
import { readLastAudit } from '../../audit/last.ts'
import { readEmptyAccounts, readFailingAccounts, type TroubledAccount } from '../../ledger/reports/desk.ts'
import { readSetAside } from '../../ledger/set-aside-report.ts'
import { microVnd } from '../../lib/money.ts'
import { readMaintenance } from '../../operations/maintenance.ts'
import { readUnknownModels } from '../../operations/unknown-models.ts'
import { countUnmatched } from '../../payments/unmatched.ts'
import type { PageRequest } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { day as calendarDay, count, dong, dongShort, percent, time } from '../view/format.ts'
import { JUDGED_DAYS, readLosses } from './business.ts'
import { isFailing, readUpstreamViews } from './upstream-view.ts'

export interface Attention {
  readonly tone: 'bad' | 'warn'
  readonly label: string
  readonly detail: string
  readonly href: string
}

const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000
/** Of customers and of models, in one look. */
const NAMED_MAX = 5
const EMPTY_MAX = 20
const CUSTOMER_ERRORS_MIN = 20
const CUSTOMER_ERROR_SHARE = 0.2
const ENDING_DAYS = 60
const UNKNOWN_DAYS = 7
const UNKNOWN_NAMES_MAX = 200

type Look = (request: PageRequest) => Promise<readonly Attention[]>

/** What each look needs of the role. */
const LOOKS: readonly (readonly [OperatorNeed, Look])[] = [
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

export async function readAttention(request: PageRequest): Promise<readonly Attention[]> {
  const role = request.session?.role ?? null
  const looks = LOOKS.filter(([need]) => mayDo(role, need))
  const found = (await Promise.all(looks.map(([, look]) => look(request)))).flat()
  return found.toSorted((one, other) => Number(one.tone === 'warn') - Number(other.tone === 'warn'))
}

function item(
  { language }: PageRequest,
  tone: Attention['tone'],
  name: string,
  href: string,
  values: Readonly<Record<string, unknown>> = {},
): Attention {
  const label = text(language, `operator.attention.${name}` as TextKey, values)
  return { tone, label, detail: text(language, `operator.attention.${name}.detail` as TextKey, values), href }
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
  return views.flatMap(view => {
    const { id, out, figures, stateText } = view
    const href = `/operator/upstreams/${encodeURIComponent(id)}`
    if (out !== null)
      return [item(request, 'warn', 'upstream_out', href, { id, time: time(out.until), reason: out.reason })]
    if (!isFailing(view)) return []
    const share = figures === null ? '' : percent(figures.failures / Math.max(1, figures.attempts))
    return [item(request, 'bad', 'upstream', href, { id, state: stateText, share: share || '–' })]
  })
}

async function transfers(request: PageRequest): Promise<readonly Attention[]> {
  const { transactions, amountVnd } = await countUnmatched(request.options.payments)
  if (transactions === 0) return []
  const values = { count: count(transactions), amount: dong(amountVnd) }
  return [item(request, 'bad', 'transfers', '/operator/transfers', values)]
}

async function customers(request: PageRequest): Promise<readonly Attention[]> {
  const { options, now } = request
  const [failing, empty] = await Promise.all([
    readFailingAccounts(options.sql, {
      now,
      errorsMin: CUSTOMER_ERRORS_MIN,
      shareMin: CUSTOMER_ERROR_SHARE,
      limit: NAMED_MAX,
    }),
    readEmptyAccounts(options.sql, { now, limit: EMPTY_MAX }),
  ])
  return [
    ...failing.map(({ accountId, email, calls, errors }) => {
      const values = { email, errors: count(errors), calls: count(calls) }
      return item(request, 'warn', 'failing', `/operator/calls?account=${accountId}&status=error`, values)
    }),
    ...(empty.length === 0 ? [] : [emptied(request, empty)]),
  ]
}

/** The one there is, or all that there are in one line. */
function emptied(request: PageRequest, empty: readonly TroubledAccount[]): Attention {
  const [first] = empty
  const names = empty.map(({ email, calls }) => `${email} (${count(calls)})`).join(', ')
  const href = empty.length === 1 ? `/operator/accounts/${first?.accountId}` : '/operator/accounts'
  return item(request, 'warn', 'empty', href, { count: count(empty.length), names })
}

async function losses(request: PageRequest): Promise<readonly Attention[]> {
  const found = await readLosses(request)
  if (found.length === 0) return []
  const names = found.slice(0, NAMED_MAX).map(({ series }) => series)
  const lost = found.reduce((sum, { costMicroVnd, revenueMicroVnd }) => sum + costMicroVnd - revenueMicroVnd, 0n)
  const values = { count: found.length, names: names.join(', '), days: JUDGED_DAYS, amount: dongShort(microVnd(lost)) }
  return [item(request, 'warn', 'losses', '/operator/business#below-cost', values)]
}

async function endings(request: PageRequest): Promise<readonly Attention[]> {
  const { options, now } = request
  const soon = options.catalogue.items.flatMap(({ entry }) => {
    const endsOn = entry.deprecated?.retiresOn ?? null
    if (endsOn === null) return []
    const atMs = Date.parse(`${endsOn}T00:00:00Z`)
    return atMs > now.getTime() && atMs <= now.getTime() + ENDING_DAYS * DAY_MS ? [{ id: entry.id, endsOn }] : []
  })
  if (soon.length === 0) return []
  const sorted = soon.toSorted((one, other) => (one.endsOn < other.endsOn ? -1 : 1))
  const names = sorted.slice(0, NAMED_MAX).map(({ id, endsOn }) => `${id} (${calendarDay(endsOn)})`)
  const values = { count: soon.length, names: names.join(', '), days: ENDING_DAYS }
  return [item(request, 'warn', 'endings', `/models/${sorted[0]?.id}`, values)]
}

async function unknownNames(request: PageRequest): Promise<readonly Attention[]> {
  const { sql, catalogue } = request.options
  const found = await readUnknownModels(sql, { days: UNKNOWN_DAYS, limit: UNKNOWN_NAMES_MAX })
  const open = found.filter(({ name, fellBack }) => fellBack > 0 && catalogue.resolve(name) === null)
  if (open.length === 0) return []
  const calls = open.reduce((sum, { fellBack }) => sum + fellBack, 0)
  const names = open.slice(0, NAMED_MAX).map(({ name }) => name)
  const values = { count: open.length, calls: count(calls), names: names.join(', '), days: UNKNOWN_DAYS }
  return [item(request, 'warn', 'unknown', '/operator/models', values)]
}
