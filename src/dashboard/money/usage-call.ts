/** The page of a single call: what happened and why, what the call used and what it cost. */

import { listKeyNames } from '../../accounts/own-keys.ts'
import { ENDPOINT_FACTS } from '../../catalogue/endpoints.ts'
import { readOwnCall } from '../../ledger/reports/own-call.ts'
import { isUuid } from '../../lib/ids.ts'
import { type Answer, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'
import { keyLabel, toneOf } from './usage.ts'
import { cureText, reasonText } from './usage-reason.ts'

export const USAGE_CALL: Page = {
  method: 'GET',
  path: '/usage/:id',
  authentication: 'session',
  purpose: 'One call, with the reason of an error',
  handle: show,
}

const ENDPOINTS = new Map<number, string>(Object.values(ENDPOINT_FACTS).map(facts => [facts.code, facts.path]))

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, params } = request
  const { accountId } = signedIn(request)
  const { id = '' } = params
  if (!isUuid(id)) return NOT_FOUND
  const [call, keys] = await Promise.all([
    readOwnCall(options.sql, { accountId, callId: id }),
    listKeyNames(options.sql, accountId),
  ])
  if (call === null) return NOT_FOUND
  const fromCache = call.cachedInputTokens + (call.cacheWriteTokens ?? 0)
  return {
    kind: 'page',
    template: 'usage-call',
    title: text(language, 'usage.call.title'),
    section: 'usage',
    data: {
      call,
      key: keyLabel(keys, call.keyId),
      endpoint: ENDPOINTS.get(call.endpoint) ?? '',
      tone: toneOf(call.status),
      reason: reasonText(language, call),
      cure: cureText(language, call),
      hasFirstByte: call.firstByteMs !== null,
      isByToken: call.pricePer === 'mtok',
      isByImage: call.pricePer === 'image',
      uncachedInputTokens: Math.max(0, call.inputTokens - fromCache),
      hasCacheWrites: (call.cacheWriteTokens ?? 0) > 0,
      otherOutputTokens: Math.max(0, call.outputTokens - call.reasoningTokens),
      billedTokens: call.inputTokens + call.outputTokens,
      unitKey: `usage.per_unit.${call.pricePer}`,
      isShort: call.chargedMicroVnd < call.costMicroVnd,
      sameTag: call.tag === null ? null : `/usage?tag=${encodeURIComponent(call.tag)}`,
    },
  }
}
