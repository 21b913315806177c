/** Tools that are sold per use, where the upstreams of a model sell them at different prices. */

import { expect, test } from 'vitest'
import { toolPrices } from '../../src/catalogue/tool-prices.ts'
import type { ModelEntry, ToolTreatment, UpstreamTarget } from '../../src/generated/types.ts'
import type { JsonObject } from '../../src/lib/json.ts'
import { CallExtras } from '../../src/pipeline/extras.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const SHIPPED = LASTING_TABLES.entries.find(({ id }) => id === 'claude-opus-5') as ModelEntry
const [TARGET] = SHIPPED.upstreams as readonly [UpstreamTarget]
const soldAt = (vnd: number): ToolTreatment => ({ price: { vnd, per: 'use' } })
const treating = (search: ToolTreatment): UpstreamTarget => ({
  ...TARGET,
  extras: { ...TARGET.extras, tools: { ...TARGET.extras.tools, web_search: search } },
})
const [DEAR, CHEAP, FREE] = [treating(soldAt(70)), treating(soldAt(50)), treating('allow')]
const ENTRY: ModelEntry = { ...SHIPPED, upstreams: [DEAR, CHEAP, FREE] }
const BODY: JsonObject = { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 3 }] }
const REPLY = Buffer.from(JSON.stringify({ content: [], usage: { server_tool_use: { web_search_requests: 2 } } }))

const extrasOf = (entry: ModelEntry) =>
  new CallExtras({ vocabulary: LASTING_TABLES.settings.extras, endpoint: 'messages', entry, body: BODY })

test('money is held for the most expensive upstream, and the price list says its price', () => {
  expect(extrasOf(ENTRY).holdMicroVnd).toBe(3n * 70_000_000n)
  expect(toolPrices(ENTRY)).toContainEqual({ tool: 'web_search', vnd: 70 })
})

test('uses cost what they cost at the upstream that served, whatever was tried before it', () => {
  const extras = extrasOf(ENTRY)
  const costs = [DEAR, CHEAP, FREE, DEAR].map(target => {
    extras.begin(target)
    const before = extras.usedVnd
    extras.countIn(REPLY)
    return [before, extras.usedVnd]
  })
  expect(costs).toEqual([
    [0, 140],
    [0, 100],
    [0, 0],
    [0, 140],
  ])
})

test('thousands of tools that may be chosen are compared with thousands that are left out in one pass', () => {
  let reads = 0
  const search = {
    type: 'web_search_20250305',
    get name() {
      reads++
      return 'web_search'
    },
  }
  const choice = { type: 'allowed_tools', tools: Array(2_000).fill({ type: 'function', name: 'f' }) }
  const body: JsonObject = {
    tools: [{ type: 'function', name: 'f' }, ...Array(2_000).fill(search)],
    tool_choice: choice,
  }
  const extras = new CallExtras({
    vocabulary: LASTING_TABLES.settings.extras,
    endpoint: 'responses',
    entry: SHIPPED,
    body,
  })
  expect(extras.begin(TARGET)).toEqual(['web_search'])
  expect(reads).toBeLessThan(20_000)
})
