/**
 * The operators' upstream pages: each upstream's state, attempts and failures across all processes. An operator can test an
 * upstream with a call for one token, take it out of service, and put it back.
 */

import { recordAction } from '../../accounts/operator-log.ts'
import { mayDo } from '../../accounts/roles.ts'
import { putUpstreamIn, takeUpstreamOut } from '../../operations/upstreams-out.ts'
import type { UpstreamTest } from '../../pipeline/test-upstream.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { percent } from '../view/format.ts'
import { outcomeText, outcomeTone } from './call.ts'
import { showsCosts } from './calls.ts'
import { actorOf, operatorPage, REASON_CHARACTERS_MAX } from './frame.ts'
import { readUpstreamViews, type UpstreamView } from './upstream-view.ts'

export const UPSTREAM_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/upstreams',
    authentication: 'operator',
    needs: 'read',
    purpose: 'How upstreams do, over all processes',
    handle: list,
  },
  {
    method: 'GET',
    path: '/operator/upstreams/:id',
    authentication: 'operator',
    needs: 'read',
    purpose: 'One upstream',
    handle: show,
  },
  {
    method: 'POST',
    path: '/operator/upstreams/:id/test',
    authentication: 'operator',
    needs: 'operations',
    purpose: 'Asks it for one token',
    handle: test,
  },
  {
    method: 'POST',
    path: '/operator/upstreams/:id/out',
    authentication: 'operator',
    needs: 'operations',
    purpose: 'Takes it out of service for a while',
    handle: takeOut,
  },
  {
    method: 'POST',
    path: '/operator/upstreams/:id/in',
    authentication: 'operator',
    needs: 'operations',
    purpose: 'Puts it in service again',
    handle: putIn,
  },
]

const PERIODS_HOURS = [1, 24, 168] as const
const OUT_HOURS = [1, 4, 24, 168] as const

function periodOf({ query }: PageRequest): (typeof PERIODS_HOURS)[number] {
  return PERIODS_HOURS.find(hours => String(hours) === query.text('hours')) ?? 24
}

async function list(request: PageRequest): Promise<Answer> {
  const hours = periodOf(request)
  const upstreams = await readUpstreamViews(request, hoursBefore(request.now, hours))
  return operatorPage(request, 'operator-upstreams', 'upstreams', {
    periods: periodsOf('/operator/upstreams', hours),
    upstreams: upstreams.map(rowOf),
    showsCosts: showsCosts(request),
  })
}

function hoursBefore(now: Date, hours: number): Date {
  return new Date(now.getTime() - hours * 3_600_000)
}

function periodsOf(path: string, chosen: number) {
  return PERIODS_HOURS.map(hours => ({
    path: `${path}?hours=${hours}`,
    key: `operator.upstreams.hours.${hours}`,
    isChosen: hours === chosen,
  }))
}

function rowOf(upstream: UpstreamView) {
  const { figures } = upstream
  return {
    ...upstream,
    hasFigures: figures !== null,
    hasFirstBytes: figures?.firstByteMs != null,
    failedShare: figures === null || figures.attempts === 0 ? null : percent(figures.failures / figures.attempts),
  }
}

interface Given {
  readonly fault?: string
  readonly tested?: UpstreamTest
}

async function show(request: PageRequest): Promise<Answer> {
  return upstreamPage(request, {})
}

async function upstreamPage(request: PageRequest, { fault, tested }: Given): Promise<Answer> {
  const { options, params, form, language, session, now } = request
  const hours = periodOf(request)
  const views = await readUpstreamViews(request, hoursBefore(now, hours), knownId(request))
  const upstream = views.find(({ id }) => id === params.id)
  if (upstream === undefined) return NOT_FOUND
  const entries = options.catalogue.items.filter(({ entry }) => entry.upstreams.some(({ via }) => via === upstream.id))
  const data = {
    upstream: rowOf(upstream),
    periods: periodsOf(`/operator/upstreams/${upstream.id}`, hours),
    outcomes: (upstream.figures?.outcomes ?? []).map(each => ({
      ...each,
      name: outcomeText(language, each.outcome),
      tone: outcomeTone(each.outcome),
      share: percent(each.attempts / Math.max(1, upstream.figures?.attempts ?? 1)),
    })),
    entries: entries.map(({ entry }) => ({ id: entry.id, isAlone: entry.upstreams.length === 1 })),
    alone: entries.filter(({ entry }) => entry.upstreams.length === 1).length,
    tested: tested === undefined ? null : testView(request, tested),
    outHours: OUT_HOURS.map(each => ({
      value: each,
      key: `operator.upstream.out.hours.${each}`,
      isChosen: form.text('hours') === String(each),
    })),
    reason: form.text('reason', REASON_CHARACTERS_MAX),
    isReached: upstream.processes > 0,
    mayOperate: mayDo(session?.role ?? null, 'operations'),
    showsCosts: showsCosts(request),
    fault: fault ?? null,
  }
  return operatorPage(request, 'operator-upstream', 'upstreams', data, fault === undefined ? 200 : 422)
}

function testView({ language }: PageRequest, tested: UpstreamTest) {
  if (tested.outcome !== 'tested') {
    return { note: text(language, `operator.upstream.test.${tested.outcome}`), entryId: '', credentials: [] }
  }
  return {
    note: null,
    entryId: tested.entryId,
    credentials: tested.credentials.map(each => ({
      ...each,
      name: outcomeText(language, each.outcome),
      tone: outcomeTone(each.outcome),
    })),
  }
}

async function test(request: PageRequest): Promise<Answer> {
  const { options, params } = request
  const id = knownId(request)
  if (id === null) return NOT_FOUND
  const tested = await options.testUpstream(id)
  const failed = tested.outcome === 'tested' ? tested.credentials.filter(({ outcome }) => outcome !== 'ok').length : 0
  await recordAction(options.sql, {
    by: actorOf(request),
    action: 'upstream.test',
    subject: `${params.id}: ${failed} failed`,
  })
  return upstreamPage(request, { tested })
}

function knownId({ options, params }: PageRequest): string | null {
  return options.catalogue.upstreams.has(params.id ?? '') ? (params.id as string) : null
}

async function takeOut(request: PageRequest): Promise<Answer> {
  const { options, form, language } = request
  const upstreamId = knownId(request)
  if (upstreamId === null) return NOT_FOUND
  const reason = form.text('reason', REASON_CHARACTERS_MAX)
  const hours = OUT_HOURS.find(each => String(each) === form.text('hours'))
  if (reason === '') return upstreamPage(request, { fault: text(language, 'operator.reason.fault') })
  if (hours === undefined) return upstreamPage(request, { fault: text(language, 'operator.upstream.out.fault') })
  const by = actorOf(request)
  await options.sql.begin(async transaction => {
    await takeUpstreamOut(transaction, { upstreamId, seconds: hours * 3_600, reason, by: by.name })
    await recordAction(transaction, { by, action: 'upstream.out', subject: `${upstreamId} ${hours} h`, reason })
  })
  return { kind: 'redirect', to: `/operator/upstreams/${upstreamId}?done=upstream_out` }
}

async function putIn(request: PageRequest): Promise<Answer> {
  const { options } = request
  const upstreamId = knownId(request)
  if (upstreamId === null) return NOT_FOUND
  await options.sql.begin(async transaction => {
    if (!(await putUpstreamIn(transaction, upstreamId))) return
    await recordAction(transaction, { by: actorOf(request), action: 'upstream.in', subject: upstreamId })
  })
  return { kind: 'redirect', to: `/operator/upstreams/${upstreamId}?done=upstream_in` }
}
