/**
 * The operators' dashboard and alert rules match the gateway: a running gateway exports every metric and label in them, and
 * every exported metric is in the table of docs/observability.md.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { gatherMetrics } from '../../src/app/workers/metrics.ts'
import { mergeExpositions, writeExposition } from '../../src/lib/metrics.ts'
import { DatabaseMetrics } from '../../src/telemetry/database.ts'
import { chatCall, goodMessage } from '../support/chat.ts'
import { type ParsedFamily, parseExposition } from '../support/exposition.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { createTestDatabase } from '../support/postgres.ts'
import { type Answer, json, type ScriptedUpstream, startScriptedUpstream } from '../support/scripted-upstream.ts'
import { changedTables } from '../support/tables.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const DOCS = 'docs/observability.md'
/** The labels that Prometheus adds, and the label that tells workers apart. */
const TARGET_LABELS = ['instance', 'job', 'worker']

interface Panel {
  readonly id: number
  readonly type: string
  readonly title: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

interface Dashboard {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly { readonly type: string; readonly definition?: string }[] }
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
}

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

const dashboard = JSON.parse(read('deploy/grafana/gateway.json')) as Dashboard
const groups = (parse(read('deploy/prometheus/alerts.yaml')) as { groups: { name: string; rules: Rule[] }[] }).groups
const rules = groups.flatMap(group => group.rules)
const queries = dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(target => ({ title, ...target })))

let families: ReadonlyMap<string, ParsedFamily>
let running: TestGateway
let provider: ScriptedUpstream

/** Starts a gateway and makes calls that give every metric family a sample. */
beforeAll(async () => {
  const overloaded = json(529, { error: { message: 'overloaded' } })
  const answers: Answer[] = [goodMessage, overloaded]
  provider = await startScriptedUpstream(() => answers.shift() ?? goodMessage)
  running = await startTestGateway({
    tables: changedTables({
      upstreams: { xai: { paths: { messages: '/v1/messages' } } },
      targets: { 'claude-opus-5': ['anthropic', 'xai'] },
    }),
    upstreams: { anthropic: provider.url, xai: provider.url },
    environment: { METRICS_PORT: '0', BANK_WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
  })
  const { apiKey } = await running.account(1_000_000n * 1_000_000n)
  for (let count = 0; count < 2; count++) {
    const headers = { 'x-api-key': apiKey }
    await (
      await fetch(`${running.url}/v1/messages`, { method: 'POST', headers, body: chatCall('claude-opus-5') })
    ).text()
  }
  await fetch(`${running.url}/webhooks/bank/signed`, { method: 'POST', body: '{}' })
  await running.gateway.readiness.idle()
  await running.database.sql`insert into bank_pull (source, finished_at) values ('test', now())`
  await running.database.sql`insert into housekeeping (task, ran_at) values ('test', now())`
  const databaseMetrics = new DatabaseMetrics({ url: running.database.url, report: () => {}, auditEveryMs: 0 })
  await databaseMetrics.refresh()
  await databaseMetrics.audit()
  const text = await (await fetch(running.gateway.metrics?.url ?? '')).text()
  families = parseExposition(
    mergeExpositions([
      text,
      writeExposition(databaseMetrics.families(), { worker: 'database' }),
      await gatherMetrics({
        working: [],
        metrics: () => ({ wanted: 2, starting: 0, serving: 2, leaving: 0, lost: 0, failedStarts: 0 }),
      }),
    ]),
  )
  await databaseMetrics.close()
})
afterAll(async () => {
  await running.close()
  await provider.close()
})

const METRIC = /\b((?:gateway|process|nodejs)_[a-z0-9_]+)(?:\{([^}]*)\})?/g
const MATCHER = /([a-z_]+)\s*(?:=~|!~|!=|=)\s*"/g
const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g

/** Finds the metric family of a name in a query. Names that end in `_bucket`, `_sum` or `_count` are series of a histogram. */
function familyOf(name: string): ParsedFamily | undefined {
  const whole = families.get(name.replace(/_(bucket|sum|count)$/, ''))
  return families.get(name) ?? (whole?.type === 'histogram' ? whole : undefined)
}

function labelsOf(family: ParsedFamily): ReadonlySet<string> {
  return new Set([...family.samples.flatMap(({ labels }) => Object.keys(labels)), ...TARGET_LABELS])
}

/** Lists the faults of a query, such as metrics and labels that no gateway exports. */
function faultsOf(query: string): string[] {
  const faults: string[] = []
  const known = new Set(TARGET_LABELS)
  const uses = [...query.matchAll(METRIC)]
  // `up` is Prometheus' own metric.
  if (uses.length === 0 && !query.startsWith('up{')) faults.push('it names no metric')
  for (const [, name = '', matchers = ''] of uses) {
    const family = familyOf(name)
    if (family === undefined) {
      faults.push(`there is no ${name}`)
      continue
    }
    if (family.samples.length === 0) faults.push(`${name} has no sample: its labels cannot be checked`)
    const labels = labelsOf(family)
    for (const label of labels) known.add(label)
    for (const [, label = ''] of matchers.matchAll(MATCHER)) {
      if (!labels.has(label)) faults.push(`${name} has no label ${label}`)
    }
    const isRate = new RegExp(`(rate|increase)\\(${name}\\b`).test(query)
    if (isRate && family.type === 'gauge') faults.push(`${name} is a gauge: it has no rate`)
  }
  for (const [, list = ''] of query.matchAll(GROUPING)) {
    for (const label of list.split(',').map(each => each.trim())) {
      if (label !== '' && !known.has(label)) faults.push(`nothing in it has the label ${label}`)
    }
  }
  return faults
}

describe('the dashboard', () => {
  test('queries only what a gateway exports', () => {
    const wrong = queries.flatMap(({ title, expr }) => faultsOf(expr).map(fault => `${title}: ${fault}`))
    for (const { definition } of dashboard.templating.list) {
      const [, name = '', label = ''] = /^label_values\((\w+), (\w+)\)$/.exec(definition ?? '') ?? []
      if (definition !== undefined) wrong.push(...faultsOf(`sum by (${label}) (${name})`))
    }
    for (const { expr } of dashboard.annotations.list) wrong.push(...faultsOf(expr))
    expect(wrong).toEqual([])
    expect(queries.length).toBeGreaterThan(50)
  })

  test('names its lines by labels that the query keeps', () => {
    const wrong = queries.flatMap(({ title, expr, legendFormat }) => {
      const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
      const groupings = [...expr.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, list = '']) => list.split(', '))
      const isGrouped = /\b(sum|max|min|count|avg)\b/.test(expr)
      return labels
        .filter(label => (isGrouped ? !groupings.includes(label) : !TARGET_LABELS.includes(label)))
        .map(label => `${title}: ${label}`)
    })
    expect(wrong).toEqual([])
  })

  test('has panels that do not overlap', () => {
    const { panels } = dashboard
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
    const wrong = panels.filter(({ gridPos: one }, index) =>
      panels
        .slice(index + 1)
        .some(
          ({ gridPos: other }) =>
            one.x < other.x + other.w &&
            other.x < one.x + one.w &&
            one.y < other.y + other.h &&
            other.y < one.y + one.h,
        ),
    )
    expect(wrong.map(({ title }) => title)).toEqual([])
    expect(panels.every(({ gridPos }) => gridPos.x + gridPos.w <= 24)).toBe(true)
  })
})

describe('the alert rules', () => {
  test('query only what a gateway exports', () => {
    expect(rules.flatMap(({ alert, expr }) => faultsOf(expr).map(fault => `${alert}: ${fault}`))).toEqual([])
  })

  test('each have a unique name and a severity, and say what is wrong and what to do', () => {
    expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length)
    for (const { alert, labels, annotations } of rules) {
      expect([alert, labels.severity]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
      expect([alert, Object.keys(annotations).sort()]).toEqual([alert, ['description', 'runbook_url', 'summary']])
    }
  })

  test.each([
    'GatewayErrorRatioHigh',
    'GatewayUpstreamDown',
    'GatewayUpstreamLeftOut',
    'GatewaySpoolNotDraining',
    'GatewayHoldsOld',
    'GatewayDatabaseUnreachable',
    'GatewayEventLoopSlow',
    'GatewayAlertsStuck',
    'GatewayAuditDifference',
    'GatewayTransfersUnmatched',
    'GatewayRevenueStopped',
    'GatewaySpoolDiskFull',
  ])('have %s', name => {
    expect(rules.map(({ alert }) => alert)).toContain(name)
  })
})

const TABLE = /(?<=<!-- metrics -->\n)[\s\S]*(?=<!-- end of metrics -->)/

function table(): string {
  const rows = [...families]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, family]) => {
      const labels = [...labelsOf(family)].filter(label => !TARGET_LABELS.includes(label) && label !== 'le')
      return `| \`${name}\` | ${family.type} | ${labels.map(label => `\`${label}\``).join(', ')} | ${family.help} |\n`
    })
  return `| name | type | labels | meaning |\n|---|---|---|---|\n${rows.join('')}`
}

test('the alert for late emails and webhooks depends on the oldest one that is due', async () => {
  // Uses a separate database, because a running gateway would send deliveries that are due.
  const { sql, url, drop } = await createTestDatabase()
  const { expr = '' } = rules.find(({ alert }) => alert === 'GatewayAlertsStuck') ?? {}
  const [, name = '', seconds = ''] = /^max\((\w+)\) > (\d+)$/.exec(expr) ?? []
  const metrics = new DatabaseMetrics({ url, report: () => {}, auditEveryMs: 0 })
  const fires = async () => {
    await metrics.refresh()
    const [sample] = parseExposition(writeExposition(metrics.families())).get(name)?.samples ?? []
    return Number(sample?.value) > Number(seconds)
  }
  const queue = (state: number, dueSeconds: number) =>
    sql`insert into alert_delivery (alert_id, account_id, state, next_at)
        values (uuidv7(), 0, ${String(state)}::text::smallint, now() - make_interval(secs => ${String(dueSeconds)}::text::integer))`
  try {
    // One delivery was sent long ago, and the other is not due yet.
    await queue(1, 86_400)
    await queue(0, -86_400)
    expect(await fires()).toBe(false)
    await queue(0, Number(seconds) + 1)
    expect(await fires()).toBe(true)
  } finally {
    await metrics.close()
    await drop()
  }
})

test('the documentation’s table of metrics has what a gateway exports; UPDATE_EXPECTED=1 rewrites it', () => {
  const text = read(DOCS)
  expect(text).toMatch(TABLE)
  if (process.env.UPDATE_EXPECTED === '1')
    writeFileSync(
      join(ROOT, DOCS),
      text.replace(TABLE, () => table()),
    )
  expect(TABLE.exec(read(DOCS))?.[0]).toBe(table())
})

test('the runbook says of every queue that can be full what it waits for', () => {
  const entry = /## GatewayQueueFull\n([\s\S]*?)\n## /.exec(read('docs/runbook.md'))?.[1] as string
  const queues = families.get('gateway_queue_items_max')?.samples.map(({ labels }) => labels.queue) ?? []
  expect(queues).toContain('funds')
  expect(queues.filter(queue => !entry.includes(`\`${queue}\``))).toEqual([])
})

test('names follow the conventions of Prometheus', () => {
  const wrong = [...families].filter(([name, { type }]) => {
    const isTotal = name.endsWith('_total')
    if (type === 'counter') return !isTotal
    return isTotal || /_(ms|milliseconds|minutes|kb|mb)\b/.test(name)
  })
  expect(wrong.map(([name]) => name)).toEqual([])
})
