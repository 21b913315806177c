// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Dialect, Rule, WireLimit } from '../types.ts'
import { openaiHost } from '../upstreams.ts'

const gptFacts = {
  ...ENTRY,
  kind: 'chat',
  vendor: 'openai',
  family: 'gpt',
  apiStandard: 'chat_completions',
} as const satisfies Partial<TableEntry>
const gptDialect: Dialect = {
  ...DIALECT,
  output: {
    ...DIALECT.output,
    capField: 'max_completion_tokens',
  },
  turns: {
    ...DIALECT.turns,
    systemRole: 'developer',
  },
  sampling: {
    ...DIALECT.sampling,
    parameters: null,
  },
  reasoning: {
    ...DIALECT.reasoning,
    parameter: 'reasoning_effort',
    levels: ['none', 'low', 'medium', 'high', 'xhigh'],
    besideTools: 'refused',
  },
}
const gptOnOpenai = {
  via: 'openai',
  weight: 0,
  cost: [],
  standard: 'chat_completions',
  extras: openaiHost.extras,
  rules: openaiHost.rules,
} as const satisfies Partial<TableTarget>

const gpt6_1TerraFacts = {
  ...gptFacts,
  modelName: 'GPT-6.1 Terra',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The balanced GPT of the current generation, for everyday chat, code and tool use.',
  descriptionVi: 'GPT cân bằng của thế hệ hiện tại, cho trò chuyện, viết mã và gọi công cụ hằng ngày.',
  contextTokens: 1050000,
  outputTokensMax: 128000,
  releasedOn: '2026-10-26',
} as const satisfies Partial<TableEntry>
const gpt6_1TerraDialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    byDefault: true,
    besideTools: 'explicit_none',
  },
}
const gpt6_1TerraCost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '1',
    cached: '0.05',
    cacheWrite: '1.25',
    output: '5',
    tiers: [{ aboveTokens: 272000, input: '2', cached: '0.1', cacheWrite: '2.5', output: '7.5' }],
  },
]
const gptLimitsChatCompletions: readonly WireLimit[] = ['sealed_reasoning', 'document_urls']
const gptLimitsResponses: readonly WireLimit[] = [
  'stop_sequences',
  'choices',
  'top_k',
  'penalties',
  'logit_bias',
  'logprobs',
  'seed',
]
const gptResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  output: {
    ...dialect.output,
    capMin: 16,
  },
  turns: {
    ...dialect.turns,
    systemRole: 'instructions',
    phase: true,
    itemIds: 'keep',
  },
  reasoning: {
    ...dialect.reasoning,
    besideTools: 'accepted',
    sealed: true,
    refusedSeal: { status: 400, code: 'invalid_encrypted_content' },
  },
  tools: {
    ...dialect.tools,
    resultImages: 'native',
    custom: 'native',
  },
})
const gpt6_1TerraResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  reasoning: {
    ...dialect.reasoning,
    levels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
})
const gpt6_1TerraRules: readonly Rule[] = [
  {
    op: 'default',
    path: '/reasoning_effort',
    value: 'none',
    when: { path: '/tools', exists: true },
    endpoints: ['chat_completions'],
  },
]
const gpt6_1TerraOnOpenai = {
  ...gptOnOpenai,
  cost: gpt6_1TerraCost,
  dialect: openaiHost.dialect(gpt6_1TerraDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt6_1TerraDialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt6_1TerraResponses(gptResponses(openaiHost.dialect(gpt6_1TerraDialect))),
    },
  ],
  rules: [...gpt6_1TerraRules, ...openaiHost.rules],
} as const satisfies Partial<TableTarget>

const gpt6SolFacts = {
  ...gptFacts,
  modelName: 'GPT-6 Sol',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: "OpenAI's top tier of the current generation, for hard reasoning, coding agents and long tasks.",
  descriptionVi: 'Bậc cao nhất thế hệ hiện tại của OpenAI, cho suy luận khó, tác tử lập trình và tác vụ dài.',
  contextTokens: 1050000,
  outputTokensMax: 128000,
  releasedOn: '2026-09-22',
} as const satisfies Partial<TableEntry>
const gpt6SolDialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    byDefault: true,
    besideTools: 'explicit_none',
  },
}
const gpt6SolCost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '2',
    cached: '0.2',
    cacheWrite: '2.5',
    output: '10',
    tiers: [{ aboveTokens: 272000, input: '4', cached: '0.4', cacheWrite: '5', output: '15' }],
  },
]
const gpt6SolResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  reasoning: {
    ...dialect.reasoning,
    levels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
})
const gpt6SolRules: readonly Rule[] = [
  {
    op: 'default',
    path: '/reasoning_effort',
    value: 'none',
    when: { path: '/tools', exists: true },
    endpoints: ['chat_completions'],
  },
]
const gpt6SolOnOpenai = {
  ...gptOnOpenai,
  cost: gpt6SolCost,
  dialect: openaiHost.dialect(gpt6SolDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt6SolDialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt6SolResponses(gptResponses(openaiHost.dialect(gpt6SolDialect))),
    },
  ],
  rules: [...gpt6SolRules, ...openaiHost.rules],
} as const satisfies Partial<TableTarget>

const gpt6LunaFacts = {
  ...gptFacts,
  modelName: 'GPT-6 Luna',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The light GPT of the current generation, for fast replies, classification and bulk work.',
  descriptionVi: 'GPT nhẹ của thế hệ hiện tại, cho phản hồi nhanh, phân loại và xử lý số lượng lớn.',
  contextTokens: 1050000,
  outputTokensMax: 128000,
  releasedOn: '2026-09-22',
} as const satisfies Partial<TableEntry>
const gpt6LunaDialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    byDefault: true,
    besideTools: 'explicit_none',
  },
}
const gpt6LunaCost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '0.1',
    cached: '0.01',
    cacheWrite: '0.125',
    output: '0.5',
    tiers: [{ aboveTokens: 272000, input: '0.2', cached: '0.02', cacheWrite: '0.25', output: '0.75' }],
  },
]
const gpt6LunaResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  reasoning: {
    ...dialect.reasoning,
    levels: ['none', 'low', 'medium', 'high', 'xhigh', 'max'],
  },
})
const gpt6LunaRules: readonly Rule[] = [
  {
    op: 'default',
    path: '/reasoning_effort',
    value: 'none',
    when: { path: '/tools', exists: true },
    endpoints: ['chat_completions'],
  },
]
const gpt6LunaOnOpenai = {
  ...gptOnOpenai,
  cost: gpt6LunaCost,
  dialect: openaiHost.dialect(gpt6LunaDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt6LunaDialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt6LunaResponses(gptResponses(openaiHost.dialect(gpt6LunaDialect))),
    },
  ],
  rules: [...gpt6LunaRules, ...openaiHost.rules],
} as const satisfies Partial<TableTarget>

const gpt5_5Facts = {
  ...gptFacts,
  modelName: 'GPT-5.5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Capable GPT with a context of a million tokens, for reasoning, code and documents.',
  descriptionVi: 'GPT mạnh với ngữ cảnh một triệu token, cho suy luận, lập trình và tài liệu.',
  contextTokens: 1050000,
  outputTokensMax: 128000,
  releasedOn: '2026-04-23',
} as const satisfies Partial<TableEntry>
const gpt5_5Dialect = gptDialect
const gpt5_5Cost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '5',
    cached: '0.5',
    output: '30',
    tiers: [{ aboveTokens: 272000, input: '10', cached: '1', cacheWrite: '10', output: '45' }],
  },
]
const gpt5_5OnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_5Cost,
  dialect: openaiHost.dialect(gpt5_5Dialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_5Dialect) },
    { wire: 'responses', cannot: gptLimitsResponses, dialect: gptResponses(openaiHost.dialect(gpt5_5Dialect)) },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_5OnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_5Cost,
  dialect: perCall(openaiHost.dialect(gpt5_5Dialect)),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: perCall(openaiHost.dialect(gpt5_5Dialect)) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gptResponses(perCall(openaiHost.dialect(gpt5_5Dialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_5InstantFacts = {
  ...gptFacts,
  modelName: 'GPT-5.5 Instant',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Answers quickly, for chat and writing that need little reasoning.',
  descriptionVi: 'Phản hồi nhanh, cho trò chuyện và viết lách không cần suy luận nhiều.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2026-05-05',
} as const satisfies Partial<TableEntry>
const gpt5_5InstantDialect: Dialect = {
  ...gptDialect,
  sampling: {
    ...gptDialect.sampling,
    parameters: 'all',
  },
  reasoning: {
    ...gptDialect.reasoning,
    parameter: null,
    levels: null,
    besideTools: 'accepted',
  },
}
const gpt5_5InstantResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  reasoning: {
    ...dialect.reasoning,
    sealed: false,
    refusedSeal: null,
  },
})
const gpt5_5InstantOnOpenai = {
  ...gptOnOpenai,
  dialect: openaiHost.dialect(gpt5_5InstantDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_5InstantDialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_5InstantResponses(gptResponses(openaiHost.dialect(gpt5_5InstantDialect))),
    },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_5InstantOnOpenaiPerCall = {
  ...gptOnOpenai,
  dialect: perCall(openaiHost.dialect(gpt5_5InstantDialect)),
  wires: [
    {
      wire: 'chat_completions',
      cannot: gptLimitsChatCompletions,
      dialect: perCall(openaiHost.dialect(gpt5_5InstantDialect)),
    },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_5InstantResponses(gptResponses(perCall(openaiHost.dialect(gpt5_5InstantDialect)))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_4Facts = {
  ...gptFacts,
  modelName: 'GPT-5.4',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Earlier GPT for professional work, code and computer use, with a million tokens of context.',
  descriptionVi: 'GPT trước đó cho công việc chuyên môn, lập trình và dùng máy tính, ngữ cảnh một triệu token.',
  contextTokens: 1050000,
  outputTokensMax: 128000,
  releasedOn: '2026-03-05',
} as const satisfies Partial<TableEntry>
const gpt5_4Dialect = gptDialect
const gpt5_4Cost: TableTarget['cost'] = [
  {
    from: '2026-11-01',
    input: '2.5',
    cached: '0.25',
    output: '15',
    tiers: [{ aboveTokens: 272000, input: '5', cached: '0.5', cacheWrite: '5', output: '22.5' }],
  },
]
const gpt5_4OnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_4Cost,
  dialect: openaiHost.dialect(gpt5_4Dialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_4Dialect) },
    { wire: 'responses', cannot: gptLimitsResponses, dialect: gptResponses(openaiHost.dialect(gpt5_4Dialect)) },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_4OnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_4Cost,
  dialect: perCall(openaiHost.dialect(gpt5_4Dialect)),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: perCall(openaiHost.dialect(gpt5_4Dialect)) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gptResponses(perCall(openaiHost.dialect(gpt5_4Dialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_4MiniFacts = {
  ...gptFacts,
  modelName: 'GPT-5.4 mini',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Small and quick, for helpers of larger agents, chat and simple code.',
  descriptionVi: 'Nhỏ và nhanh, cho việc phụ của tác tử lớn, trò chuyện và mã đơn giản.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2026-03-17',
} as const satisfies Partial<TableEntry>
const gpt5_4MiniDialect = gptDialect
const gpt5_4MiniCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.75', cached: '0.075', output: '4.5' }]
const gpt5_4MiniOnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_4MiniCost,
  dialect: openaiHost.dialect(gpt5_4MiniDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_4MiniDialect) },
    { wire: 'responses', cannot: gptLimitsResponses, dialect: gptResponses(openaiHost.dialect(gpt5_4MiniDialect)) },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_4MiniOnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_4MiniCost,
  dialect: perCall(openaiHost.dialect(gpt5_4MiniDialect)),
  wires: [
    {
      wire: 'chat_completions',
      cannot: gptLimitsChatCompletions,
      dialect: perCall(openaiHost.dialect(gpt5_4MiniDialect)),
    },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gptResponses(perCall(openaiHost.dialect(gpt5_4MiniDialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_4NanoFacts = {
  ...gptFacts,
  modelName: 'GPT-5.4 nano',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The smallest GPT, for classification, extraction and short answers; move to GPT-6 Luna before it ends.',
  descriptionVi:
    'GPT nhỏ nhất, cho phân loại, trích xuất và câu trả lời ngắn; hãy chuyển sang GPT-6 Luna trước khi ngừng.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2026-03-17',
} as const satisfies Partial<TableEntry>
const gpt5_4NanoDialect = gptDialect
const gpt5_4NanoCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.2', cached: '0.02', output: '1.25' }]
const gpt5_4NanoOnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_4NanoCost,
  dialect: openaiHost.dialect(gpt5_4NanoDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_4NanoDialect) },
    { wire: 'responses', cannot: gptLimitsResponses, dialect: gptResponses(openaiHost.dialect(gpt5_4NanoDialect)) },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_3CodexFacts = {
  ...gptFacts,
  modelName: 'GPT-5.3 Codex',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Tuned for coding agents; move to GPT-6 Sol before it ends.',
  descriptionVi: 'Tinh chỉnh cho tác tử lập trình; hãy chuyển sang GPT-6 Sol trước khi ngừng.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2026-02-05',
} as const satisfies Partial<TableEntry>
const gpt5_3CodexDialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    levels: ['low', 'medium', 'high', 'xhigh'],
    byDefault: true,
    disable: 'refused',
  },
}
const gpt5_3CodexCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.75', cached: '0.175', output: '14' }]
const gpt5_3CodexOnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_3CodexCost,
  dialect: openaiHost.dialect(gpt5_3CodexDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_3CodexDialect) },
    { wire: 'responses', cannot: gptLimitsResponses, dialect: gptResponses(openaiHost.dialect(gpt5_3CodexDialect)) },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_3CodexOnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_3CodexCost,
  dialect: perCall(openaiHost.dialect(gpt5_3CodexDialect)),
  wires: [
    {
      wire: 'chat_completions',
      cannot: gptLimitsChatCompletions,
      dialect: perCall(openaiHost.dialect(gpt5_3CodexDialect)),
    },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gptResponses(perCall(openaiHost.dialect(gpt5_3CodexDialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_2Facts = {
  ...gptFacts,
  modelName: 'GPT-5.2',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Earlier GPT for reasoning, code and long documents.',
  descriptionVi: 'GPT trước đó cho suy luận, lập trình và tài liệu dài.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2025-12-11',
} as const satisfies Partial<TableEntry>
const gpt5_2Dialect = gptDialect
const gpt5_2Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.75', cached: '0.175', output: '14' }]
const gpt5_2Responses = (dialect: Dialect): Dialect => ({
  ...dialect,
  turns: {
    ...dialect.turns,
    phase: false,
  },
})
const gpt5_2OnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_2Cost,
  dialect: openaiHost.dialect(gpt5_2Dialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_2Dialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_2Responses(gptResponses(openaiHost.dialect(gpt5_2Dialect))),
    },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_2OnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_2Cost,
  dialect: perCall(openaiHost.dialect(gpt5_2Dialect)),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: perCall(openaiHost.dialect(gpt5_2Dialect)) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_2Responses(gptResponses(perCall(openaiHost.dialect(gpt5_2Dialect)))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5_1Facts = {
  ...gptFacts,
  modelName: 'GPT-5.1',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Older GPT for reasoning and chat; move to GPT-6 Sol before it ends.',
  descriptionVi: 'GPT cũ cho suy luận và trò chuyện; hãy chuyển sang GPT-6 Sol trước khi ngừng.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2025-11-13',
} as const satisfies Partial<TableEntry>
const gpt5_1Dialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    levels: ['none', 'low', 'medium', 'high'],
    besideTools: 'accepted',
  },
}
const gpt5_1Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.25', cached: '0.125', output: '10' }]
const gpt5_1Responses = (dialect: Dialect): Dialect => ({
  ...dialect,
  turns: {
    ...dialect.turns,
    phase: false,
  },
})
const gpt5_1OnOpenai = {
  ...gptOnOpenai,
  cost: gpt5_1Cost,
  dialect: openaiHost.dialect(gpt5_1Dialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5_1Dialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_1Responses(gptResponses(openaiHost.dialect(gpt5_1Dialect))),
    },
  ],
} as const satisfies Partial<TableTarget>
const gpt5_1OnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5_1Cost,
  dialect: perCall(openaiHost.dialect(gpt5_1Dialect)),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: perCall(openaiHost.dialect(gpt5_1Dialect)) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5_1Responses(gptResponses(perCall(openaiHost.dialect(gpt5_1Dialect)))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5Facts = {
  ...gptFacts,
  modelName: 'GPT-5',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'The first GPT-5; move to GPT-6 Sol before it ends.',
  descriptionVi: 'Bản GPT-5 đầu tiên; hãy chuyển sang GPT-6 Sol trước khi ngừng.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2025-08-07',
} as const satisfies Partial<TableEntry>
const gpt5Dialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    levels: ['minimal', 'low', 'medium', 'high'],
    byDefault: true,
    disable: 'refused',
    besideTools: 'accepted',
  },
}
const gpt5Cost: TableTarget['cost'] = [{ from: '2026-11-01', input: '1.25', cached: '0.125', output: '10' }]
const gpt5Responses = (dialect: Dialect): Dialect => ({
  ...dialect,
  turns: {
    ...dialect.turns,
    phase: false,
  },
})
const gpt5OnOpenai = {
  ...gptOnOpenai,
  cost: gpt5Cost,
  dialect: openaiHost.dialect(gpt5Dialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5Dialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5Responses(gptResponses(openaiHost.dialect(gpt5Dialect))),
    },
  ],
} as const satisfies Partial<TableTarget>

const gpt5MiniFacts = {
  ...gptFacts,
  modelName: 'GPT-5 Mini',
  capabilities: ['reasoning', 'vision', 'tools', 'streaming'],
  description: 'Small GPT-5 for well-defined tasks; move to GPT-6.1 Terra before it ends.',
  descriptionVi: 'GPT-5 cỡ nhỏ cho việc đã rõ yêu cầu; hãy chuyển sang GPT-6.1 Terra trước khi ngừng.',
  contextTokens: 400000,
  outputTokensMax: 128000,
  releasedOn: '2025-08-07',
} as const satisfies Partial<TableEntry>
const gpt5MiniDialect: Dialect = {
  ...gptDialect,
  reasoning: {
    ...gptDialect.reasoning,
    levels: ['minimal', 'low', 'medium', 'high'],
    byDefault: true,
    disable: 'refused',
    besideTools: 'accepted',
  },
}
const gpt5MiniCost: TableTarget['cost'] = [{ from: '2026-11-01', input: '0.25', cached: '0.025', output: '2' }]
const gpt5MiniResponses = (dialect: Dialect): Dialect => ({
  ...dialect,
  turns: {
    ...dialect.turns,
    phase: false,
  },
})
const gpt5MiniOnOpenai = {
  ...gptOnOpenai,
  cost: gpt5MiniCost,
  dialect: openaiHost.dialect(gpt5MiniDialect),
  wires: [
    { wire: 'chat_completions', cannot: gptLimitsChatCompletions, dialect: openaiHost.dialect(gpt5MiniDialect) },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5MiniResponses(gptResponses(openaiHost.dialect(gpt5MiniDialect))),
    },
  ],
} as const satisfies Partial<TableTarget>
const gpt5MiniOnOpenaiPerCall = {
  ...gptOnOpenai,
  cost: gpt5MiniCost,
  dialect: perCall(openaiHost.dialect(gpt5MiniDialect)),
  wires: [
    {
      wire: 'chat_completions',
      cannot: gptLimitsChatCompletions,
      dialect: perCall(openaiHost.dialect(gpt5MiniDialect)),
    },
    {
      wire: 'responses',
      cannot: gptLimitsResponses,
      dialect: gpt5MiniResponses(gptResponses(perCall(openaiHost.dialect(gpt5MiniDialect)))),
    },
  ],
} as const satisfies Partial<TableTarget>

/** Every entry of the family, in the order of the file. */
export const GPT: readonly TableEntry[] = [
  {
    ...gpt6_1TerraFacts,
    id: 'gpt-6.1-terra',
    name: 'GPT-6.1 Terra',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.1-codex-mini', 'gpt-5.6-terra'],
    upstreams: [{ ...gpt6_1TerraOnOpenai, model: 'gpt-6.1-terra' }],
  },
  {
    ...gpt6SolFacts,
    id: 'gpt-6-sol',
    name: 'GPT-6 Sol',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5-codex', 'gpt-5.1-codex', 'gpt-5.1-codex-max', 'gpt-5.2-codex', 'gpt-5.6-sol', 'gpt-6.1-sol'],
    upstreams: [{ ...gpt6SolOnOpenai, model: 'gpt-6-sol' }],
  },
  {
    ...gpt6LunaFacts,
    id: 'gpt-6-luna',
    name: 'GPT-6 Luna',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.6-luna'],
    upstreams: [{ ...gpt6LunaOnOpenai, model: 'gpt-6-luna' }],
  },
  {
    ...gpt5_5Facts,
    id: 'gpt-5.5',
    name: 'GPT-5.5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.5-2026-04-23'],
    upstreams: [{ ...gpt5_5OnOpenai, model: 'gpt-5.5' }],
  },
  {
    ...gpt5_5Facts,
    id: 'req/gpt-5.5',
    name: 'GPT-5.5 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 900, per: 'request' },
    upstreams: [{ ...gpt5_5OnOpenaiPerCall, model: 'gpt-5.5' }],
  },
  {
    ...gpt5_5InstantFacts,
    id: 'gpt-5.5-instant',
    name: 'GPT-5.5 Instant',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.5-chat-latest'],
    upstreams: [{ ...gpt5_5InstantOnOpenai, model: 'gpt-5.5-instant' }],
  },
  {
    ...gpt5_5InstantFacts,
    id: 'req/gpt-5.5-instant',
    name: 'GPT-5.5 Instant (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 650, per: 'request' },
    upstreams: [{ ...gpt5_5InstantOnOpenaiPerCall, model: 'gpt-5.5-instant' }],
  },
  {
    ...gpt5_4Facts,
    id: 'gpt-5.4',
    name: 'GPT-5.4',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.4-2026-03-05'],
    upstreams: [{ ...gpt5_4OnOpenai, model: 'gpt-5.4' }],
  },
  {
    ...gpt5_4Facts,
    id: 'req/gpt-5.4',
    name: 'GPT-5.4 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 800, per: 'request' },
    upstreams: [{ ...gpt5_4OnOpenaiPerCall, model: 'gpt-5.4' }],
  },
  {
    ...gpt5_4MiniFacts,
    id: 'gpt-5.4-mini',
    name: 'GPT-5.4 mini',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.4-mini-2026-03-17'],
    upstreams: [{ ...gpt5_4MiniOnOpenai, model: 'gpt-5.4-mini' }],
  },
  {
    ...gpt5_4MiniFacts,
    id: 'req/gpt-5.4-mini',
    name: 'GPT-5.4 mini (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 450, per: 'request' },
    upstreams: [{ ...gpt5_4MiniOnOpenaiPerCall, model: 'gpt-5.4-mini' }],
  },
  {
    ...gpt5_4NanoFacts,
    id: 'gpt-5.4-nano',
    name: 'GPT-5.4 nano',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.4-nano-2026-03-17'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-01', successor: 'gpt-6-luna' },
    upstreams: [{ ...gpt5_4NanoOnOpenai, model: 'gpt-5.4-nano' }],
  },
  {
    ...gpt5_3CodexFacts,
    id: 'gpt-5.3-codex',
    name: 'GPT-5.3 Codex',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-01', successor: 'gpt-6-sol' },
    upstreams: [{ ...gpt5_3CodexOnOpenai, model: 'gpt-5.3-codex' }],
  },
  {
    ...gpt5_3CodexFacts,
    id: 'req/gpt-5.3-codex',
    name: 'GPT-5.3 Codex (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 750, per: 'request' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-01', successor: 'req/gpt-5.2' },
    upstreams: [{ ...gpt5_3CodexOnOpenaiPerCall, model: 'gpt-5.3-codex' }],
  },
  {
    ...gpt5_2Facts,
    id: 'gpt-5.2',
    name: 'GPT-5.2',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.2-2025-12-11'],
    upstreams: [{ ...gpt5_2OnOpenai, model: 'gpt-5.2' }],
  },
  {
    ...gpt5_2Facts,
    id: 'req/gpt-5.2',
    name: 'GPT-5.2 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 700, per: 'request' },
    upstreams: [{ ...gpt5_2OnOpenaiPerCall, model: 'gpt-5.2' }],
  },
  {
    ...gpt5_1Facts,
    id: 'gpt-5.1',
    name: 'GPT-5.1',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5.1-2025-11-13'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-01', successor: 'gpt-6-sol' },
    upstreams: [{ ...gpt5_1OnOpenai, model: 'gpt-5.1' }],
  },
  {
    ...gpt5_1Facts,
    id: 'req/gpt-5.1',
    name: 'GPT-5.1 (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 600, per: 'request' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-04-01', successor: 'req/gpt-5.4-mini' },
    upstreams: [{ ...gpt5_1OnOpenaiPerCall, model: 'gpt-5.1' }],
  },
  {
    ...gpt5Facts,
    id: 'gpt-5',
    name: 'GPT-5',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5-2025-08-07'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2026-12-11', successor: 'gpt-6-sol' },
    upstreams: [{ ...gpt5OnOpenai, model: 'gpt-5' }],
  },
  {
    ...gpt5MiniFacts,
    id: 'gpt-5-mini',
    name: 'GPT-5 Mini',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 2400, per: 'mtok' },
    aliases: ['gpt-5-mini-2025-08-07'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2026-12-11', successor: 'gpt-6.1-terra' },
    upstreams: [{ ...gpt5MiniOnOpenai, model: 'gpt-5-mini' }],
  },
  {
    ...gpt5MiniFacts,
    id: 'req/gpt-5-mini',
    name: 'GPT-5 Mini (per call)',
    channel: 'standard',
    endpoints: ['messages', 'chat_completions', 'responses'],
    price: { vnd: 400, per: 'request' },
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2026-12-11', successor: 'req/gpt-5.4-mini' },
    upstreams: [{ ...gpt5MiniOnOpenaiPerCall, model: 'gpt-5-mini' }],
  },
]
