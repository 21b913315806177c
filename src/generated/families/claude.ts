// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect } from '../types.ts'
import { anthropicHost, awsBedrockHost } from '../upstreams.ts'

const claudeFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'anthropic',
  family: 'claude',
  apiStandard: 'messages',
  tokenFactor: 1.4,
  tokenShares: { symbols: 0.3, capitals: 1.8, accents: 2 },
  counting: {
    requestTokens: 3,
    turnTokens: 3,
    toolInstructionsTokens: 346,
    pageTokens: 2200,
    picture: { edgePixelsMax: 1568, pixelsPerToken: 750, tokensMax: 1600, unknownTokens: 1600 },
  },
} as const satisfies Partial<TableEntry>
const claudeDialect: Dialect = {
  ...DIALECT,
  turns: {
    ...DIALECT.turns,
    prefill: 'user_turn',
    threads: true,
  },
  content: {
    ...DIALECT.content,
    cacheControl: 'pass',
  },
  sampling: {
    ...DIALECT.sampling,
    parameters: null,
    temperatureMax: 1,
    topK: true,
    stopMax: 1000,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'adaptive',
    levels: ['low', 'medium', 'high', 'xhigh', 'max'],
    display: 'on_request',
    budgetAccepted: false,
  },
  tools: {
    ...DIALECT.tools,
    nameMax: 128,
    callId: 'word',
  },
  structuredOutput: {
    ...DIALECT.structuredOutput,
    method: 'native',
  },
  endUser: {
    ...DIALECT.endUser,
    lengthMax: 256,
  },
}
const claudeOnAnthropic = {
  via: 'anthropic',
  weight: 0,
  cost: [],
  standard: 'messages',
  extras: anthropicHost.extras,
  rules: anthropicHost.rules,
} as const satisfies Partial<TableTarget>
const claudeOnAwsBedrock = {
  via: 'aws-bedrock',
  weight: 0,
  cost: [],
  standard: 'messages',
  extras: awsBedrockHost.extras,
  rules: awsBedrockHost.rules,
} as const satisfies Partial<TableTarget>

const claudeFable5Facts = {
  ...claudeFacts,
  modelName: 'Claude Fable 5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "Anthropic's top tier, for the hardest reasoning and for agents that work for hours on their own.",
  descriptionVi: 'Bậc cao nhất của Anthropic, dành cho suy luận khó nhất và tác tử tự làm việc hàng giờ liền.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
  releasedOn: '2026-06-09',
} as const satisfies Partial<TableEntry>
const claudeFable5Dialect: Dialect = {
  ...claudeDialect,
  reasoning: {
    ...claudeDialect.reasoning,
    byDefault: true,
    disable: 'refused',
  },
}
const claudeFable5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '10', cached: '1', cacheWrite: '12.5', output: '50' },
]
const claudeFable5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeFable5Cost,
  dialect: anthropicHost.dialect(claudeFable5Dialect),
}
const claudeFable5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeFable5Cost,
  dialect: awsBedrockHost.dialect(claudeFable5Dialect),
}
const claudeFable5OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeFable5Cost,
  dialect: perCall(anthropicHost.dialect(claudeFable5Dialect)),
}

const claudeOpus5Facts = {
  ...claudeFacts,
  modelName: 'Claude Opus 5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description:
    'Strong all-rounder for complex coding, agents and professional work; a good first choice among the Claude models.',
  descriptionVi:
    'Toàn diện và mạnh, hợp với lập trình phức tạp, tác tử và công việc chuyên môn; lựa chọn đầu tiên trong dòng Claude.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
} as const satisfies Partial<TableEntry>
const claudeOpus5Dialect: Dialect = {
  ...claudeDialect,
  reasoning: {
    ...claudeDialect.reasoning,
    byDefault: true,
    disable: 'up_to_high',
  },
}
const claudeOpus5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' },
]
const claudeOpus5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeOpus5Cost,
  dialect: anthropicHost.dialect(claudeOpus5Dialect),
}
const claudeOpus5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeOpus5Cost,
  dialect: awsBedrockHost.dialect(claudeOpus5Dialect),
}
const claudeOpus5OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeOpus5Cost,
  dialect: perCall(anthropicHost.dialect(claudeOpus5Dialect)),
}

const claudeSonnet5Facts = {
  ...claudeFacts,
  modelName: 'Claude Sonnet 5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Balances speed and quality for everyday coding, writing and tool use.',
  descriptionVi: 'Cân bằng giữa tốc độ và chất lượng, cho lập trình, viết và gọi công cụ hằng ngày.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
  releasedOn: '2026-06-30',
} as const satisfies Partial<TableEntry>
const claudeSonnet5Dialect = claudeDialect
const claudeSonnet5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '2', cached: '0.2', cacheWrite: '2.5', output: '10' },
]
const claudeSonnet5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeSonnet5Cost,
  dialect: anthropicHost.dialect(claudeSonnet5Dialect),
}
const claudeSonnet5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeSonnet5Cost,
  dialect: awsBedrockHost.dialect(claudeSonnet5Dialect),
}
const claudeSonnet5OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeSonnet5Cost,
  dialect: perCall(anthropicHost.dialect(claudeSonnet5Dialect)),
}

const claudeOpus4_8Facts = {
  ...claudeFacts,
  modelName: 'Claude Opus 4.8',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description:
    'The Opus before 5, for complex coding and long agent sessions with settings that are already tuned to it.',
  descriptionVi: 'Bản Opus ngay trước 5, cho lập trình phức tạp và phiên tác tử dài đã tinh chỉnh theo nó.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
  releasedOn: '2026-05-28',
} as const satisfies Partial<TableEntry>
const claudeOpus4_8Dialect = claudeDialect
const claudeOpus4_8Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' },
]
const claudeOpus4_8OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeOpus4_8Cost,
  dialect: anthropicHost.dialect(claudeOpus4_8Dialect),
}
const claudeOpus4_8OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeOpus4_8Cost,
  dialect: awsBedrockHost.dialect(claudeOpus4_8Dialect),
}
const claudeOpus4_8OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeOpus4_8Cost,
  dialect: perCall(anthropicHost.dialect(claudeOpus4_8Dialect)),
}

const claudeOpus4_7Facts = {
  ...claudeFacts,
  modelName: 'Claude Opus 4.7',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Earlier Opus with adaptive thinking, for projects that stay with this version.',
  descriptionVi: 'Bản Opus trước đó với suy luận thích ứng, cho dự án cần giữ nguyên phiên bản.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
  releasedOn: '2026-04-16',
} as const satisfies Partial<TableEntry>
const claudeOpus4_7Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
  },
}
const claudeOpus4_7Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' },
]
const claudeOpus4_7OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeOpus4_7Cost,
  dialect: anthropicHost.dialect(claudeOpus4_7Dialect),
}
const claudeOpus4_7OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeOpus4_7Cost,
  dialect: awsBedrockHost.dialect(claudeOpus4_7Dialect),
}

const claudeOpus4_6Facts = {
  ...claudeFacts,
  modelName: 'Claude Opus 4.6',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Earlier Opus with a context of a million tokens that still takes sampling parameters.',
  descriptionVi: 'Bản Opus trước đó, ngữ cảnh một triệu token, vẫn nhận các tham số lấy mẫu.',
  contextTokens: 1000000,
  outputTokensMax: 128000,
  releasedOn: '2026-02-05',
  tokenFactor: 1.03,
  tokenShares: { symbols: 1, capitals: 0.3, accents: 2.85 },
} as const satisfies Partial<TableEntry>
const claudeOpus4_6Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
  },
  sampling: {
    ...claudeDialect.sampling,
    parameters: 'temperature_xor_top_p',
  },
  reasoning: {
    ...claudeDialect.reasoning,
    levels: ['low', 'medium', 'high', 'max'],
    display: 'always',
    budgetAccepted: true,
  },
  tools: {
    ...claudeDialect.tools,
    forced: 'not_with_thinking',
  },
}
const claudeOpus4_6Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' },
]
const claudeOpus4_6OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeOpus4_6Cost,
  dialect: anthropicHost.dialect(claudeOpus4_6Dialect),
}
const claudeOpus4_6OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeOpus4_6Cost,
  dialect: awsBedrockHost.dialect(claudeOpus4_6Dialect),
}

const claudeOpus4_5Facts = {
  ...claudeFacts,
  modelName: 'Claude Opus 4.5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Older Opus with thinking by token budget and prefilled answers.',
  descriptionVi: 'Bản Opus cũ hơn, suy luận theo ngân sách token và cho viết sẵn phần đầu câu trả lời.',
  contextTokens: 200000,
  outputTokensMax: 64000,
  releasedOn: '2025-11-24',
  tokenFactor: 1.03,
  tokenShares: { symbols: 1, capitals: 0.3, accents: 2.85 },
} as const satisfies Partial<TableEntry>
const claudeOpus4_5Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
    prefill: 'continue',
  },
  sampling: {
    ...claudeDialect.sampling,
    parameters: 'temperature_xor_top_p',
  },
  reasoning: {
    ...claudeDialect.reasoning,
    parameter: 'budget',
    levels: ['low', 'medium', 'high'],
    display: 'always',
    budgetAccepted: true,
  },
  tools: {
    ...claudeDialect.tools,
    forced: 'not_with_thinking',
  },
}
const claudeOpus4_5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '5', cached: '0.5', cacheWrite: '6.25', output: '25' },
]
const claudeOpus4_5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeOpus4_5Cost,
  dialect: anthropicHost.dialect(claudeOpus4_5Dialect),
}
const claudeOpus4_5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeOpus4_5Cost,
  dialect: awsBedrockHost.dialect(claudeOpus4_5Dialect),
}

const claudeSonnet4_6Facts = {
  ...claudeFacts,
  modelName: 'Claude Sonnet 4.6',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Earlier Sonnet with a million tokens of context, for coding and documents.',
  descriptionVi: 'Bản Sonnet trước đó, ngữ cảnh một triệu token, cho lập trình và tài liệu.',
  contextTokens: 1000000,
  outputTokensMax: 64000,
  releasedOn: '2026-02-17',
  tokenFactor: 1.03,
  tokenShares: { symbols: 1, capitals: 0.3, accents: 2.85 },
} as const satisfies Partial<TableEntry>
const claudeSonnet4_6Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
  },
  sampling: {
    ...claudeDialect.sampling,
    parameters: 'temperature_xor_top_p',
  },
  reasoning: {
    ...claudeDialect.reasoning,
    levels: ['low', 'medium', 'high'],
    display: 'always',
    budgetAccepted: true,
  },
  tools: {
    ...claudeDialect.tools,
    forced: 'not_with_thinking',
  },
}
const claudeSonnet4_6Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '3', cached: '0.3', cacheWrite: '3.75', output: '15' },
]
const claudeSonnet4_6OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeSonnet4_6Cost,
  dialect: anthropicHost.dialect(claudeSonnet4_6Dialect),
}
const claudeSonnet4_6OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeSonnet4_6Cost,
  dialect: awsBedrockHost.dialect(claudeSonnet4_6Dialect),
}
const claudeSonnet4_6OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeSonnet4_6Cost,
  dialect: perCall(anthropicHost.dialect(claudeSonnet4_6Dialect)),
}

const claudeSonnet4_5Facts = {
  ...claudeFacts,
  modelName: 'Claude Sonnet 4.5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Older Sonnet; move to Sonnet 5 before it ends.',
  descriptionVi: 'Bản Sonnet cũ; hãy chuyển sang Sonnet 5 trước khi ngừng.',
  contextTokens: 200000,
  outputTokensMax: 64000,
  releasedOn: '2025-09-29',
  tokenFactor: 1.03,
  tokenShares: { symbols: 1, capitals: 0.3, accents: 2.85 },
} as const satisfies Partial<TableEntry>
const claudeSonnet4_5Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
    prefill: 'continue',
  },
  sampling: {
    ...claudeDialect.sampling,
    parameters: 'temperature_xor_top_p',
  },
  reasoning: {
    ...claudeDialect.reasoning,
    parameter: 'budget',
    levels: null,
    display: 'always',
    budgetAccepted: true,
  },
  tools: {
    ...claudeDialect.tools,
    forced: 'not_with_thinking',
  },
}
const claudeSonnet4_5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '3', cached: '0.3', cacheWrite: '3.75', output: '15' },
]
const claudeSonnet4_5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeSonnet4_5Cost,
  dialect: anthropicHost.dialect(claudeSonnet4_5Dialect),
}
const claudeSonnet4_5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeSonnet4_5Cost,
  dialect: awsBedrockHost.dialect(claudeSonnet4_5Dialect),
}

const claudeHaiku4_5Facts = {
  ...claudeFacts,
  modelName: 'Claude Haiku 4.5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The fast, light Claude, for chat, classification and helpers of larger agents.',
  descriptionVi: 'Bản Claude nhanh và nhẹ, cho trò chuyện, phân loại và việc phụ của tác tử lớn.',
  contextTokens: 200000,
  outputTokensMax: 64000,
  releasedOn: '2025-10-15',
  tokenFactor: 1.03,
  tokenShares: { symbols: 1, capitals: 0.3, accents: 2.85 },
} as const satisfies Partial<TableEntry>
const claudeHaiku4_5Dialect: Dialect = {
  ...claudeDialect,
  turns: {
    ...claudeDialect.turns,
    midSystem: 'user_text',
    prefill: 'continue',
  },
  sampling: {
    ...claudeDialect.sampling,
    parameters: 'temperature_xor_top_p',
  },
  reasoning: {
    ...claudeDialect.reasoning,
    parameter: 'budget',
    levels: null,
    display: 'always',
    budgetAccepted: true,
  },
  tools: {
    ...claudeDialect.tools,
    forced: 'not_with_thinking',
  },
}
const claudeHaiku4_5Cost: TableTarget['cost'] = [
  { from: '2026-08-22', input: '1', cached: '0.1', cacheWrite: '1.25', output: '5' },
]
const claudeHaiku4_5OnAnthropic = {
  ...claudeOnAnthropic,
  cost: claudeHaiku4_5Cost,
  dialect: anthropicHost.dialect(claudeHaiku4_5Dialect),
}
const claudeHaiku4_5OnAwsBedrock = {
  ...claudeOnAwsBedrock,
  cost: claudeHaiku4_5Cost,
  dialect: awsBedrockHost.dialect(claudeHaiku4_5Dialect),
}
const claudeHaiku4_5OnAnthropicPerCall = {
  ...claudeOnAnthropic,
  cost: claudeHaiku4_5Cost,
  dialect: perCall(anthropicHost.dialect(claudeHaiku4_5Dialect)),
}

/** Every entry of the family, in the order of the file. */
export const CLAUDE: readonly TableEntry[] = [
  {
    ...claudeFable5Facts,
    id: 'claude-fable-5',
    name: 'Claude Fable 5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 8300, per: 'mtok' },
    aliases: ['claude-fable-5-1', 'claude-fable-5-2', 'claude-fable-5.1', 'claude-fable-5.2', 'fable'],
    upstreams: [{ ...claudeFable5OnAnthropic, model: 'claude-fable-5' }],
  },
  {
    ...claudeFable5Facts,
    id: 'svc/claude-fable-5',
    name: 'Claude Fable 5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 9900, per: 'mtok' },
    upstreams: [{ ...claudeFable5OnAwsBedrock, model: 'global.anthropic.claude-fable-5' }],
  },
  {
    ...claudeFable5Facts,
    id: 'req/claude-fable-5',
    name: 'Claude Fable 5 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1900, per: 'request' },
    upstreams: [{ ...claudeFable5OnAnthropicPerCall, model: 'claude-fable-5' }],
  },
  {
    ...claudeOpus5Facts,
    id: 'claude-opus-5',
    name: 'Claude Opus 5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: [
      'claude-opus-4',
      'claude-opus-4-0',
      'claude-opus-4-1',
      'claude-opus-4-1-20250805',
      'claude-opus-4-20250514',
      'claude-opus-4.1',
      'claude-opus-5-5',
      'claude-opus-5.5',
      'opus',
    ],
    upstreams: [{ ...claudeOpus5OnAnthropic, model: 'claude-opus-5' }],
  },
  {
    ...claudeOpus5Facts,
    id: 'svc/claude-opus-5',
    name: 'Claude Opus 5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7900, per: 'mtok' },
    upstreams: [{ ...claudeOpus5OnAwsBedrock, model: 'global.anthropic.claude-opus-5' }],
  },
  {
    ...claudeOpus5Facts,
    id: 'req/claude-opus-5',
    name: 'Claude Opus 5 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1500, per: 'request' },
    upstreams: [{ ...claudeOpus5OnAnthropicPerCall, model: 'claude-opus-5' }],
  },
  {
    ...claudeSonnet5Facts,
    id: 'claude-sonnet-5',
    name: 'Claude Sonnet 5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: [
      'claude-sonnet-4',
      'claude-sonnet-4-0',
      'claude-sonnet-4-20250514',
      'claude-sonnet-5-5',
      'claude-sonnet-5.5',
      'sonnet',
    ],
    upstreams: [{ ...claudeSonnet5OnAnthropic, model: 'claude-sonnet-5' }],
  },
  {
    ...claudeSonnet5Facts,
    id: 'svc/claude-sonnet-5',
    name: 'Claude Sonnet 5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7200, per: 'mtok' },
    upstreams: [{ ...claudeSonnet5OnAwsBedrock, model: 'global.anthropic.claude-sonnet-5' }],
  },
  {
    ...claudeSonnet5Facts,
    id: 'req/claude-sonnet-5',
    name: 'Claude Sonnet 5 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1100, per: 'request' },
    upstreams: [{ ...claudeSonnet5OnAnthropicPerCall, model: 'claude-sonnet-5' }],
  },
  {
    ...claudeOpus4_8Facts,
    id: 'claude-opus-4-8',
    name: 'Claude Opus 4.8',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-opus-4.8'],
    upstreams: [{ ...claudeOpus4_8OnAnthropic, model: 'claude-opus-4-8' }],
  },
  {
    ...claudeOpus4_8Facts,
    id: 'svc/claude-opus-4-8',
    name: 'Claude Opus 4.8 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7900, per: 'mtok' },
    upstreams: [{ ...claudeOpus4_8OnAwsBedrock, model: 'global.anthropic.claude-opus-4-8' }],
  },
  {
    ...claudeOpus4_8Facts,
    id: 'req/claude-opus-4-8',
    name: 'Claude Opus 4.8 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1500, per: 'request' },
    upstreams: [{ ...claudeOpus4_8OnAnthropicPerCall, model: 'claude-opus-4-8' }],
  },
  {
    ...claudeOpus4_7Facts,
    id: 'claude-opus-4-7',
    name: 'Claude Opus 4.7',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-opus-4.7'],
    upstreams: [{ ...claudeOpus4_7OnAnthropic, model: 'claude-opus-4-7' }],
  },
  {
    ...claudeOpus4_7Facts,
    id: 'svc/claude-opus-4-7',
    name: 'Claude Opus 4.7 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7900, per: 'mtok' },
    upstreams: [{ ...claudeOpus4_7OnAwsBedrock, model: 'global.anthropic.claude-opus-4-7' }],
  },
  {
    ...claudeOpus4_6Facts,
    id: 'claude-opus-4-6',
    name: 'Claude Opus 4.6',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-opus-4.6'],
    upstreams: [{ ...claudeOpus4_6OnAnthropic, model: 'claude-opus-4-6' }],
  },
  {
    ...claudeOpus4_6Facts,
    id: 'svc/claude-opus-4-6',
    name: 'Claude Opus 4.6 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7900, per: 'mtok' },
    upstreams: [{ ...claudeOpus4_6OnAwsBedrock, model: 'global.anthropic.claude-opus-4-6-v1' }],
  },
  {
    ...claudeOpus4_5Facts,
    id: 'claude-opus-4-5',
    name: 'Claude Opus 4.5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-opus-4-5-20251101', 'claude-opus-4.5'],
    upstreams: [{ ...claudeOpus4_5OnAnthropic, model: 'claude-opus-4-5' }],
  },
  {
    ...claudeOpus4_5Facts,
    id: 'svc/claude-opus-4-5',
    name: 'Claude Opus 4.5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7600, per: 'mtok' },
    upstreams: [{ ...claudeOpus4_5OnAwsBedrock, model: 'global.anthropic.claude-opus-4-5-20251101-v1:0' }],
  },
  {
    ...claudeSonnet4_6Facts,
    id: 'claude-sonnet-4-6',
    name: 'Claude Sonnet 4.6',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-sonnet-4.6'],
    upstreams: [{ ...claudeSonnet4_6OnAnthropic, model: 'claude-sonnet-4-6' }],
  },
  {
    ...claudeSonnet4_6Facts,
    id: 'svc/claude-sonnet-4-6',
    name: 'Claude Sonnet 4.6 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7200, per: 'mtok' },
    upstreams: [{ ...claudeSonnet4_6OnAwsBedrock, model: 'global.anthropic.claude-sonnet-4-6' }],
  },
  {
    ...claudeSonnet4_6Facts,
    id: 'req/claude-sonnet-4-6',
    name: 'Claude Sonnet 4.6 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 1100, per: 'request' },
    upstreams: [{ ...claudeSonnet4_6OnAnthropicPerCall, model: 'claude-sonnet-4-6' }],
  },
  {
    ...claudeSonnet4_5Facts,
    id: 'claude-sonnet-4-5',
    name: 'Claude Sonnet 4.5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-sonnet-4-5-20250929', 'claude-sonnet-4.5'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2026-11-30', successor: 'claude-sonnet-5' },
    upstreams: [{ ...claudeSonnet4_5OnAnthropic, model: 'claude-sonnet-4-5' }],
  },
  {
    ...claudeSonnet4_5Facts,
    id: 'svc/claude-sonnet-4-5',
    name: 'Claude Sonnet 4.5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 7200, per: 'mtok' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-08', successor: 'svc/claude-sonnet-5' },
    upstreams: [{ ...claudeSonnet4_5OnAwsBedrock, model: 'global.anthropic.claude-sonnet-4-5-20250929-v1:0' }],
  },
  {
    ...claudeHaiku4_5Facts,
    id: 'claude-haiku-4-5',
    name: 'Claude Haiku 4.5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6500, per: 'mtok' },
    aliases: ['claude-haiku-4-5-20251001', 'claude-haiku-4.5', 'claude-haiku-5-5', 'claude-haiku-5.5'],
    upstreams: [{ ...claudeHaiku4_5OnAnthropic, model: 'claude-haiku-4-5' }],
  },
  {
    ...claudeHaiku4_5Facts,
    id: 'svc/claude-haiku-4-5',
    name: 'Claude Haiku 4.5 (AWS)',
    channel: 'aws',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 6800, per: 'mtok' },
    upstreams: [{ ...claudeHaiku4_5OnAwsBedrock, model: 'global.anthropic.claude-haiku-4-5-20251001-v1:0' }],
  },
  {
    ...claudeHaiku4_5Facts,
    id: 'req/claude-haiku-4-5',
    name: 'Claude Haiku 4.5 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 700, per: 'request' },
    upstreams: [{ ...claudeHaiku4_5OnAnthropicPerCall, model: 'claude-haiku-4-5' }],
  },
]
