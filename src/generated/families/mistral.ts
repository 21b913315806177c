// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { awsBedrockOpenaiHost } from '../upstreams.ts'

const mistralFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'mistral',
  family: 'mistral',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const mistralDialect: Dialect = {
  ...DIALECT,
  turns: {
    ...DIALECT.turns,
    midSystem: 'user_text',
    alternate: true,
  },
  content: {
    ...DIALECT.content,
    documents: 'placeholder',
  },
  reasoning: {
    ...DIALECT.reasoning,
    field: 'content_parts',
  },
  tools: {
    ...DIALECT.tools,
    callId: 'alphanumeric_9',
  },
  endUser: {
    ...DIALECT.endUser,
    field: null,
  },
}
const mistralOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const mistralLarge3Facts = {
  ...mistralFacts,
  modelName: 'Mistral Large 3',
  capabilities: ['vision', 'tools', 'streaming'],
  description:
    "Mistral's large open model on AWS, for chat, pictures and European languages, without a reasoning phase.",
  descriptionVi:
    'Mô hình mở cỡ lớn của Mistral trên AWS, cho trò chuyện, đọc ảnh và ngôn ngữ châu Âu, không có bước suy luận.',
  contextTokens: 256000,
  outputTokensMax: 8192,
  releasedOn: '2025-12-02',
} as const satisfies Partial<TableEntry>
const mistralLarge3Dialect = mistralDialect
const mistralLarge3Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.5', output: '1.5' }]
const mistralLarge3OnAwsBedrockOpenai = {
  ...mistralOnAwsBedrockOpenai,
  cost: mistralLarge3Cost,
  dialect: awsBedrockOpenaiHost.dialect(mistralLarge3Dialect),
}

/** Every entry of the family, in the order of the file. */
export const MISTRAL: readonly TableEntry[] = [
  {
    ...mistralLarge3Facts,
    id: 'svc/mistral-large-3',
    name: 'Mistral Large 3 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['mistral-large-2512', 'mistral-large-3', 'mistral-large-latest'],
    upstreams: [{ ...mistralLarge3OnAwsBedrockOpenai, model: 'mistral.mistral-large-3-675b-instruct' }],
  },
]
