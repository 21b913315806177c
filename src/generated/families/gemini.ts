// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { googleHost } from '../upstreams.ts'

const geminiFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'google',
  family: 'gemini',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const geminiDialect: Dialect = {
  ...DIALECT,
  content: {
    ...DIALECT.content,
    imageUrl: 'inline',
    documents: 'image_url',
  },
  sampling: {
    ...DIALECT.sampling,
    stopMax: 5,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'reasoning_effort',
    levels: ['minimal', 'low', 'medium', 'high'],
    byDefault: true,
    disable: 'refused',
  },
  tools: {
    ...DIALECT.tools,
    strict: 'drop',
    signature: {
      ...DIALECT.tools.signature,
      path: '/extra_content/google/thought_signature',
      placeholder: 'skip_thought_signature_validator',
    },
  },
  usage: {
    ...DIALECT.usage,
    outputCounts: 'without_reasoning',
  },
  endUser: {
    ...DIALECT.endUser,
    field: null,
  },
}
const geminiOnGoogle = {
  via: 'google',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: googleHost.extras,
  rules: googleHost.rules,
} as const satisfies Partial<TableTarget>

const gemini3_5FlashFacts = {
  ...geminiFacts,
  modelName: 'Gemini 3.5 Flash',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Fast Gemini for chat, pictures, long documents and agents.',
  descriptionVi: 'Gemini nhanh, cho trò chuyện, đọc ảnh, tài liệu dài và tác tử.',
  contextTokens: 1048576,
  outputTokensMax: 65536,
  releasedOn: '2026-05-19',
} as const satisfies Partial<TableEntry>
const gemini3_5FlashDialect = geminiDialect
const gemini3_5FlashCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.5', cached: '0.15', output: '9' }]
const gemini3_5FlashOnGoogle = {
  ...geminiOnGoogle,
  cost: gemini3_5FlashCost,
  dialect: googleHost.dialect(gemini3_5FlashDialect),
}
const gemini3_5FlashOnGooglePerCall = {
  ...geminiOnGoogle,
  cost: gemini3_5FlashCost,
  dialect: perCall(googleHost.dialect(gemini3_5FlashDialect)),
}

const gemini3_1ProPreviewFacts = {
  ...geminiFacts,
  modelName: 'Gemini 3.1 Pro Preview',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "Google's Pro tier in preview, for difficult reasoning, mathematics and code over long inputs.",
  descriptionVi: 'Bậc Pro của Google ở dạng xem trước, cho suy luận khó, toán và mã trên đầu vào dài.',
  contextTokens: 1048576,
  outputTokensMax: 65536,
  releasedOn: '2026-02-19',
} as const satisfies Partial<TableEntry>
const gemini3_1ProPreviewDialect: Dialect = {
  ...geminiDialect,
  reasoning: {
    ...geminiDialect.reasoning,
    levels: ['low', 'medium', 'high'],
  },
}
const gemini3_1ProPreviewCost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '2',
    cached: '0.2',
    output: '12',
    tiers: [{ aboveTokens: 200000, input: '4', cached: '0.4', cacheWrite: '4', output: '18' }],
  },
]
const gemini3_1ProPreviewOnGoogle = {
  ...geminiOnGoogle,
  cost: gemini3_1ProPreviewCost,
  dialect: googleHost.dialect(gemini3_1ProPreviewDialect),
}
const gemini3_1ProPreviewOnGooglePerCall = {
  ...geminiOnGoogle,
  cost: gemini3_1ProPreviewCost,
  dialect: perCall(googleHost.dialect(gemini3_1ProPreviewDialect)),
}

const gemini3_1FlashLiteFacts = {
  ...geminiFacts,
  modelName: 'Gemini 3.1 Flash Lite',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The cheapest Gemini, for classification, extraction, translation and other work in bulk.',
  descriptionVi: 'Gemini rẻ nhất, cho phân loại, trích xuất, dịch thuật và các việc số lượng lớn.',
  contextTokens: 1048576,
  outputTokensMax: 65536,
  releasedOn: '2026-05-07',
} as const satisfies Partial<TableEntry>
const gemini3_1FlashLiteDialect = geminiDialect
const gemini3_1FlashLiteCost: TableTarget['cost'] = [
  { from: '2026-11-01', input: '0.25', cached: '0.025', output: '1.5' },
]
const gemini3_1FlashLiteOnGoogle = {
  ...geminiOnGoogle,
  cost: gemini3_1FlashLiteCost,
  dialect: googleHost.dialect(gemini3_1FlashLiteDialect),
}
const gemini3_1FlashLiteOnGooglePerCall = {
  ...geminiOnGoogle,
  cost: gemini3_1FlashLiteCost,
  dialect: perCall(googleHost.dialect(gemini3_1FlashLiteDialect)),
}

const gemini2_5ProFacts = {
  ...geminiFacts,
  modelName: 'Gemini 2.5 Pro',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Older Pro tier for reasoning over long documents; move to Gemini 3.5 Flash before it ends.',
  descriptionVi: 'Bậc Pro cũ để suy luận trên tài liệu dài; hãy chuyển sang Gemini 3.5 Flash trước khi ngừng.',
  contextTokens: 1048576,
  outputTokensMax: 65536,
  releasedOn: '2025-06-17',
} as const satisfies Partial<TableEntry>
const gemini2_5ProDialect: Dialect = {
  ...geminiDialect,
  reasoning: {
    ...geminiDialect.reasoning,
    levels: ['low', 'medium', 'high'],
  },
}
const gemini2_5ProCost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '1.25',
    cached: '0.125',
    output: '10',
    tiers: [{ aboveTokens: 200000, input: '2.5', cached: '0.25', cacheWrite: '2.5', output: '15' }],
  },
]
const gemini2_5ProOnGoogle = {
  ...geminiOnGoogle,
  cost: gemini2_5ProCost,
  dialect: googleHost.dialect(gemini2_5ProDialect),
}

/** Every entry of the family, in the order of the file. */
export const GEMINI: readonly TableEntry[] = [
  {
    ...gemini3_5FlashFacts,
    id: 'gemini-3.5-flash',
    name: 'Gemini 3.5 Flash',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    aliases: ['gemini-2.5-flash', 'gemini-3-flash-preview', 'gemini-3.8-flash', 'gemini-flash-latest'],
    upstreams: [{ ...gemini3_5FlashOnGoogle, model: 'gemini-3.5-flash' }],
  },
  {
    ...gemini3_5FlashFacts,
    id: 'req/gemini-3.5-flash',
    name: 'Gemini 3.5 Flash (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 420, per: 'request' },
    upstreams: [{ ...gemini3_5FlashOnGooglePerCall, model: 'gemini-3.5-flash' }],
  },
  {
    ...gemini3_1ProPreviewFacts,
    id: 'gemini-3.1-pro-preview',
    name: 'Gemini 3.1 Pro Preview',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 3200, per: 'mtok' },
    aliases: ['gemini-3-pro-preview', 'gemini-3.1-pro', 'gemini-pro-latest'],
    upstreams: [{ ...gemini3_1ProPreviewOnGoogle, model: 'gemini-3.1-pro-preview' }],
  },
  {
    ...gemini3_1ProPreviewFacts,
    id: 'req/gemini-3.1-pro-preview',
    name: 'Gemini 3.1 Pro Preview (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 800, per: 'request' },
    upstreams: [{ ...gemini3_1ProPreviewOnGooglePerCall, model: 'gemini-3.1-pro-preview' }],
  },
  {
    ...gemini3_1FlashLiteFacts,
    id: 'gemini-3.1-flash-lite',
    name: 'Gemini 3.1 Flash Lite',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1500, per: 'mtok' },
    deprecated: { sinceOn: '2027-03-08', retiresOn: '2027-05-07', successor: 'gemini-3.5-flash' },
    upstreams: [{ ...gemini3_1FlashLiteOnGoogle, model: 'gemini-3.1-flash-lite' }],
  },
  {
    ...gemini3_1FlashLiteFacts,
    id: 'req/gemini-3.1-flash-lite',
    name: 'Gemini 3.1 Flash Lite (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 260, per: 'request' },
    deprecated: { sinceOn: '2027-03-08', retiresOn: '2027-05-07', successor: 'req/gemini-3.5-flash' },
    upstreams: [{ ...gemini3_1FlashLiteOnGooglePerCall, model: 'gemini-3.1-flash-lite' }],
  },
  {
    ...gemini2_5ProFacts,
    id: 'gemini-2.5-pro',
    name: 'Gemini 2.5 Pro',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2800, per: 'mtok' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2026-12-01', successor: 'gemini-3.5-flash' },
    upstreams: [{ ...gemini2_5ProOnGoogle, model: 'gemini-2.5-pro' }],
  },
]
