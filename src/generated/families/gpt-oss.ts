// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { awsBedrockOpenaiHost } from '../upstreams.ts'

const gptOssFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'openai',
  family: 'gpt-oss',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const gptOssDialect: Dialect = {
  ...DIALECT,
  content: {
    ...DIALECT.content,
    imagesUnsupported: 'placeholder',
    documents: 'placeholder',
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'reasoning_effort',
    levels: ['low', 'medium', 'high'],
    byDefault: true,
    disable: 'refused',
    tag: 'reasoning',
  },
  tools: {
    ...DIALECT.tools,
    strict: 'drop',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'prompt',
  },
  endUser: {
    ...DIALECT.endUser,
    field: null,
  },
}
const gptOssOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const gptOss120bFacts = {
  ...gptOssFacts,
  modelName: 'gpt-oss-120b',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: "OpenAI's larger open-weight model on AWS, with reasoning and tools at a low price.",
  descriptionVi: 'Mô hình mở cỡ lớn của OpenAI trên AWS, có suy luận và gọi công cụ, giá rẻ.',
  contextTokens: 128000,
  outputTokensMax: 16384,
  releasedOn: '2025-08-05',
} as const satisfies Partial<TableEntry>
const gptOss120bDialect = gptOssDialect
const gptOss120bCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.15', output: '0.6' }]
const gptOss120bOnAwsBedrockOpenai = {
  ...gptOssOnAwsBedrockOpenai,
  cost: gptOss120bCost,
  dialect: awsBedrockOpenaiHost.dialect(gptOss120bDialect),
}

const gptOss20bFacts = {
  ...gptOssFacts,
  modelName: 'gpt-oss-20b',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: "OpenAI's small open-weight model on AWS, for simple and frequent calls.",
  descriptionVi: 'Mô hình mở cỡ nhỏ của OpenAI trên AWS, cho lượt gọi đơn giản và thường xuyên.',
  contextTokens: 128000,
  outputTokensMax: 16384,
  releasedOn: '2025-08-05',
} as const satisfies Partial<TableEntry>
const gptOss20bDialect = gptOssDialect
const gptOss20bCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.07', output: '0.3' }]
const gptOss20bOnAwsBedrockOpenai = {
  ...gptOssOnAwsBedrockOpenai,
  cost: gptOss20bCost,
  dialect: awsBedrockOpenaiHost.dialect(gptOss20bDialect),
}

/** Every entry of the family, in the order of the file. */
export const GPT_OSS: readonly TableEntry[] = [
  {
    ...gptOss120bFacts,
    id: 'svc/gpt-oss-120b',
    name: 'gpt-oss-120b (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1700, per: 'mtok' },
    aliases: ['gpt-oss-120b'],
    upstreams: [{ ...gptOss120bOnAwsBedrockOpenai, model: 'openai.gpt-oss-120b' }],
  },
  {
    ...gptOss20bFacts,
    id: 'svc/gpt-oss-20b',
    name: 'gpt-oss-20b (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1500, per: 'mtok' },
    aliases: ['gpt-oss-20b'],
    upstreams: [{ ...gptOss20bOnAwsBedrockOpenai, model: 'openai.gpt-oss-20b' }],
  },
]
