// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { awsBedrockOpenaiHost, zhipuaiHost } from '../upstreams.ts'

const glmFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'zhipuai',
  family: 'glm',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const glmDialect: Dialect = {
  ...DIALECT,
  content: {
    ...DIALECT.content,
    imagesUnsupported: 'placeholder',
    documents: 'placeholder',
  },
  sampling: {
    ...DIALECT.sampling,
    temperatureMax: 1,
    stopMax: 1,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'thinking_type',
    byDefault: true,
    echo: 'if_present',
  },
  tools: {
    ...DIALECT.tools,
    forced: 'refused',
    parallelFlag: false,
    strict: 'drop',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'json_object',
  },
  usage: {
    ...DIALECT.usage,
    streamOptions: false,
  },
  endUser: {
    ...DIALECT.endUser,
    field: 'user_id',
    lengthMax: 128,
  },
}
const glmOnZhipuai = {
  via: 'zhipuai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: zhipuaiHost.extras,
  rules: zhipuaiHost.rules,
} as const satisfies Partial<TableTarget>
const glmOnAwsBedrockOpenai = {
  via: 'aws-bedrock-openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: awsBedrockOpenaiHost.extras,
  rules: awsBedrockOpenaiHost.rules,
} as const satisfies Partial<TableTarget>

const glm5_2Facts = {
  ...glmFacts,
  modelName: 'GLM-5.2',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Open-weight flagship of Z.ai with a million tokens of context, for coding agents and long tasks.',
  descriptionVi: 'Mô hình mở hàng đầu của Z.ai, ngữ cảnh một triệu token, cho tác tử lập trình và tác vụ dài.',
  contextTokens: 1000000,
  outputTokensMax: 131072,
  releasedOn: '2026-06-13',
} as const satisfies Partial<TableEntry>
const glm5_2Dialect: Dialect = {
  ...glmDialect,
  reasoning: {
    ...glmDialect.reasoning,
    levels: ['high', 'max'],
  },
}
const glm5_2Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.4', cached: '0.26', output: '4.4' }]
const glm5_2OnZhipuai = { ...glmOnZhipuai, cost: glm5_2Cost, dialect: zhipuaiHost.dialect(glm5_2Dialect) }
const glm5_2OnZhipuaiPerCall = {
  ...glmOnZhipuai,
  cost: glm5_2Cost,
  dialect: perCall(zhipuaiHost.dialect(glm5_2Dialect)),
}

const glm5_1Facts = {
  ...glmFacts,
  modelName: 'GLM-5.1',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Reasoning and coding model with long answers, for agents and daily development.',
  descriptionVi: 'Mô hình suy luận và lập trình với câu trả lời dài, cho tác tử và việc phát triển hằng ngày.',
  contextTokens: 200000,
  outputTokensMax: 131072,
  releasedOn: '2026-04-07',
} as const satisfies Partial<TableEntry>
const glm5_1Dialect = glmDialect
const glm5_1Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.4', cached: '0.26', output: '4.4' }]
const glm5_1OnZhipuai = { ...glmOnZhipuai, cost: glm5_1Cost, dialect: zhipuaiHost.dialect(glm5_1Dialect) }
const glm5_1OnZhipuaiPerCall = {
  ...glmOnZhipuai,
  cost: glm5_1Cost,
  dialect: perCall(zhipuaiHost.dialect(glm5_1Dialect)),
}

const glm5vTurboFacts = {
  ...glmFacts,
  modelName: 'GLM-5V-Turbo',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Reads pictures and screens and acts on them, for interfaces, charts and documents.',
  descriptionVi: 'Đọc ảnh và màn hình rồi thao tác theo, cho giao diện, biểu đồ và tài liệu.',
  contextTokens: 200000,
  outputTokensMax: 131072,
  releasedOn: '2026-04-01',
} as const satisfies Partial<TableEntry>
const glm5vTurboDialect = glmDialect
const glm5vTurboCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.2', cached: '0.24', output: '4' }]
const glm5vTurboOnZhipuai = { ...glmOnZhipuai, cost: glm5vTurboCost, dialect: zhipuaiHost.dialect(glm5vTurboDialect) }
const glm5vTurboOnZhipuaiPerCall = {
  ...glmOnZhipuai,
  cost: glm5vTurboCost,
  dialect: perCall(zhipuaiHost.dialect(glm5vTurboDialect)),
}

const glm5Facts = {
  ...glmFacts,
  modelName: 'GLM-5',
  capabilities: ['reasoning', 'tools', 'streaming'],
  description: 'Open model on AWS for coding, tools and longer tasks.',
  descriptionVi: 'Mô hình mở trên AWS cho lập trình, gọi công cụ và tác vụ dài.',
  contextTokens: 202752,
  outputTokensMax: 101376,
  releasedOn: '2026-03-18',
} as const satisfies Partial<TableEntry>
const glm5Dialect: Dialect = {
  ...glmDialect,
  sampling: {
    ...glmDialect.sampling,
    stopMax: 4,
  },
  reasoning: {
    ...glmDialect.reasoning,
    parameter: null,
    byDefault: false,
    echo: 'never',
  },
  usage: {
    ...glmDialect.usage,
    streamOptions: true,
  },
  endUser: {
    ...glmDialect.endUser,
    field: null,
  },
}
const glm5Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1', output: '3.2' }]
const glm5OnAwsBedrockOpenai = {
  ...glmOnAwsBedrockOpenai,
  cost: glm5Cost,
  dialect: awsBedrockOpenaiHost.dialect(glm5Dialect),
}

/** Every entry of the family, in the order of the file. */
export const GLM: readonly TableEntry[] = [
  {
    ...glm5_2Facts,
    id: 'glm-5.2',
    name: 'GLM-5.2',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2000, per: 'mtok' },
    upstreams: [{ ...glm5_2OnZhipuai, model: 'glm-5.2' }],
  },
  {
    ...glm5_2Facts,
    id: 'req/glm-5.2',
    name: 'GLM-5.2 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 480, per: 'request' },
    upstreams: [{ ...glm5_2OnZhipuaiPerCall, model: 'glm-5.2' }],
  },
  {
    ...glm5_1Facts,
    id: 'glm-5.1',
    name: 'GLM-5.1',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1800, per: 'mtok' },
    upstreams: [{ ...glm5_1OnZhipuai, model: 'glm-5.1' }],
  },
  {
    ...glm5_1Facts,
    id: 'req/glm-5.1',
    name: 'GLM-5.1 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 420, per: 'request' },
    upstreams: [{ ...glm5_1OnZhipuaiPerCall, model: 'glm-5.1' }],
  },
  {
    ...glm5vTurboFacts,
    id: 'glm-5v-turbo',
    name: 'GLM-5V-Turbo',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'mtok' },
    upstreams: [{ ...glm5vTurboOnZhipuai, model: 'glm-5v-turbo' }],
  },
  {
    ...glm5vTurboFacts,
    id: 'req/glm-5v-turbo',
    name: 'GLM-5V-Turbo (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 420, per: 'request' },
    upstreams: [{ ...glm5vTurboOnZhipuaiPerCall, model: 'glm-5v-turbo' }],
  },
  {
    ...glm5Facts,
    id: 'svc/glm-5',
    name: 'GLM-5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2200, per: 'mtok' },
    aliases: ['glm-5'],
    upstreams: [{ ...glm5OnAwsBedrockOpenai, model: 'zai.glm-5' }],
  },
]
