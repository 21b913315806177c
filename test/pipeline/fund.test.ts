/** The parts of a call's hold: its tokens, the uses of sold tools, and content to which the body only refers. */

import { describe, expect, test } from 'vitest'
import type { ReplyStream } from '../../src/conversation/reply-stream.ts'
import { NO_USAGE } from '../../src/conversation/usage.ts'
import { GatewayError } from '../../src/errors.ts'
import type { ModelEntry } from '../../src/generated/types.ts'
import type { ExtendRequest, HoldRequest } from '../../src/ledger/types.ts'
import { microVnd } from '../../src/lib/money.ts'
import { type Funding, fund, holdOfStream } from '../../src/pipeline/fund.ts'
import type { CallScope } from '../../src/pipeline/run-billed.ts'
import { LASTING_TABLES } from '../support/tables.ts'

const [SHIPPED] = LASTING_TABLES.entries as readonly [ModelEntry]
const ENTRY: ModelEntry = {
  ...SHIPPED,
  price: { vnd: 10, per: 'mtok' },
  contextTokens: 10_000,
  outputTokensMax: 5_000,
  holdOutputTokens: 1_000,
}
/** What a call with 300 input tokens, up to 50 output tokens, sold tools and a stored document may cost, in µVND. */
const TOKENS = 10n * 350n
const TOOLS = 7_000n
const REFERENCED = 10n * 9_700n

/** A call in front of a ledger that grants these amounts, and what the ledger was asked for. */
function opened({ held, free = held }: { held: bigint; free?: bigint }) {
  const holds: HoldRequest[] = []
  const extensions: ExtendRequest[] = []
  const ledger = {
    async admit(request: HoldRequest) {
      holds.push(request)
      return { outcome: 'admitted', accountId: 1, keyId: 2, heldMicroVnd: microVnd(held), freeMicroVnd: microVnd(free) }
    },
    async extend(request: ExtendRequest) {
      extensions.push(request)
      return { heldMicroVnd: microVnd(held) }
    },
  }
  const scope = {
    services: {
      ledger,
      catalogue: { settings: { service: 'svc' } },
      limits: { holdExtendTokens: 16, holdExtendWaitMs: 60_000 },
      topUpUrl: '',
    },
    call: { id: 'c', endpoint: 'messages', caller: { accountId: 1, keyHash: Buffer.alloc(32), allowedModels: null } },
    client: { gone: null },
    headers: {},
  } as unknown as CallScope
  return { scope, holds, extensions }
}

function funding(change: Partial<Funding> = {}, entry = ENTRY): Funding {
  return {
    resolution: { entry, mappedFrom: null } as Funding['resolution'],
    input: { tokens: 300, hasReferences: true },
    body: { streamed: true, outputTokensMax: 50 },
    choices: 1,
    extras: { holdMicroVnd: microVnd(TOOLS) },
    outputTokensMin: 16,
    ...change,
  }
}

const WHOLE = { body: { streamed: false, outputTokensMax: null } }

describe('a hold', () => {
  test('is asked for all parts together', async () => {
    const { scope, holds } = opened({ held: 1n })
    await fund(scope, funding())
    await fund(scope, funding(WHOLE))
    const least = 10n * 1_300n + TOOLS + REFERENCED
    expect(holds).toMatchObject([
      { holdMinMicroVnd: TOKENS + TOOLS + REFERENCED, holdMaxMicroVnd: TOKENS + TOOLS + REFERENCED },
      { holdMinMicroVnd: least, holdMaxMicroVnd: 10n * 5_300n + TOOLS + REFERENCED },
    ])
  })

  test('is the price of a call, whatever its length, if calls have a price', async () => {
    // Too little money to pay for a reply by the token.
    const { scope, holds } = opened({ held: 9n })
    const entry: ModelEntry = { ...ENTRY, price: { vnd: 900, per: 'request' } }
    expect(await fund(scope, funding(WHOLE, entry))).toMatchObject({ outputTokensAfforded: null })
    expect(holds).toMatchObject([{ holdMinMicroVnd: 900_007_000n, holdMaxMicroVnd: 900_007_000n }])
  })

  // biome-ignore format: one case per line
  test.each<[string, bigint, bigint[]]>([
    ['of everything', TOKENS + TOOLS + REFERENCED, [TOKENS, TOOLS, REFERENCED]],
    ['of more', TOKENS + TOOLS + REFERENCED + 5n, [TOKENS + 5n, TOOLS, REFERENCED]],
    ['of a part of what is referred to', TOKENS + TOOLS + 9n, [TOKENS, TOOLS, 9n]],
    ['of some tool uses', TOKENS + 9n, [TOKENS, 9n, 0n]],
    ['of some tokens', 9n, [9n, 0n, 0n]],
  ])('%s is divided in order: tokens, tool uses, references', async (_what, held, parts) => {
    const funded = await fund(opened({ held }).scope, funding())
    expect([funded.heldMicroVnd, funded.reservedMicroVnd, funded.referencedMicroVnd]).toEqual(parts)
  })

  test('lowers the output cap to what is left beside tool uses and references, and says so', async () => {
    const beside = TOOLS + REFERENCED
    const { scope } = opened({ held: 10n * 1_600n + beside, free: 10n * 1_700n + beside })
    expect(await fund(scope, funding(WHOLE))).toMatchObject({ outputTokensAfforded: 1_400 })
    expect(scope.headers).toEqual({ 'x-svc-output-tokens-max': '1400' })
  })
})

test('a stream counts what it refers to as used, asks for more than its tool uses, and ends by its own count', async () => {
  // The wallet never grants more than the first hold.
  const { scope, extensions } = opened({ held: 10n * 10_050n + TOOLS })
  let output = 0
  const stream = { usage: NO_USAGE, estimateOutputTokens: () => output, countOutputTokens: () => output }
  const hold = holdOfStream(scope, {
    funding: funding(),
    funded: await fund(scope, funding()),
    stream: stream as unknown as ReplyStream,
    checks: { countInputTokens: () => 295, reportedTokensMax: 1_000_000 },
  })
  const read = async (tokens: number) => {
    output = tokens
    hold?.read(100_000)
    await new Promise(resolve => setImmediate(resolve))
    return hold?.state
  }
  expect(await read(40)).toBe('go')
  expect(extensions).toEqual([])
  expect(await read(60)).toBe('spent')
  expect(extensions).toEqual([{ callId: 'c', accountId: 1, wantMicroVnd: 10n * 10_076n + TOOLS }])
  expect(hold?.spentError).toBeInstanceOf(GatewayError)
  hold?.close()
})
