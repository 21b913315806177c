// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { EXTRAS, UPSTREAM } from './defaults.ts'
import type { HostLayer, TableUpstream } from './ids.ts'

export const anthropicHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 1,
    },
  }),
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: { free: ['auto', 'standard_only'] },
      speed: { free: ['standard'] },
      inference_geo: { free: ['global'] },
      fallbacks: 'refuse',
    },
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      web_fetch: 'allow',
      code_execution: 'leave_out',
      mcp: 'leave_out',
      computer: 'allow',
      advisor: 'refuse',
    },
  },
  rules: [],
}

export const openaiHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 128,
    },
  }),
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: { free: ['auto', 'default', 'flex'] },
      best_of: { free: [1] },
    },
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      code_interpreter: 'leave_out',
      image_generation: 'leave_out',
      file_search: 'leave_out',
      mcp: 'leave_out',
      computer: 'allow',
      shell: 'leave_out',
    },
  },
  rules: [],
}

export const deepseekHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 1,
    },
  }),
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      best_of: { free: [1] },
    },
  },
  rules: [],
}

export const googleHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 8,
    },
  }),
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: { free: ['auto', 'default', 'standard', 'flex'] },
    },
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      web_fetch: 'leave_out',
      code_execution: 'leave_out',
      file_search: 'leave_out',
    },
  },
  rules: [],
}

export const alibabaHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 4,
    },
  }),
  extras: {
    ...EXTRAS,
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      code_interpreter: 'leave_out',
    },
  },
  rules: [],
}

export const zhipuaiHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 1,
    },
  }),
  extras: {
    ...EXTRAS,
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      file_search: 'leave_out',
    },
  },
  rules: [],
}

export const moonshotaiHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 5,
    },
  }),
  extras: {
    ...EXTRAS,
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
    },
  },
  rules: [],
}

export const minimaxHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 1,
    },
  }),
  extras: {
    ...EXTRAS,
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
    },
  },
  rules: [],
}

export const xaiHost: HostLayer = {
  dialect: model => model,
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: { free: ['auto', 'default'] },
    },
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      x_search: 'leave_out',
      code_execution: 'leave_out',
      code_interpreter: 'leave_out',
      file_search: 'leave_out',
      mcp: 'leave_out',
    },
  },
  rules: [],
}

export const awsBedrockHost: HostLayer = {
  dialect: model => ({
    ...model,
    output: {
      ...model.output,
      choicesMax: 1,
    },
    turns: {
      ...model.turns,
      threads: false,
    },
    content: {
      ...model.content,
      imageUrl: 'inline',
    },
    tools: {
      ...model.tools,
      parallelFlag: false,
      strict: 'drop',
    },
    structuredOutput: {
      ...model.structuredOutput,
      method: 'tool',
    },
    endUser: {
      ...model.endUser,
      field: null,
    },
    betas: {
      ...model.betas,
      unlisted: 'drop',
      flags: {
        ...model.betas.flags,
        'advanced-tool-use-2025-11-20': { name: 'tool-search-tool-2025-10-19', fields: ['/tools/*/defer_loading'] },
        'compact-2026-01-12': {},
        'computer-use-2025-01-24': {},
        'computer-use-2025-11-24': {},
        'context-1m-2025-08-07': {},
        'context-management-2025-06-27': {},
        'effort-2025-11-24': {},
        'fine-grained-tool-streaming-2025-05-14': {},
        'interleaved-thinking-2025-05-14': {},
        'mid-conversation-output-config-2026-07-01': { fields: ['/messages/*/output_config'] },
        'mid-conversation-tool-changes-2026-07-01': {},
        'thinking-binding-controls-2026-08-01': {},
        'thinking-display-updates-2026-08-18': {},
        'token-efficient-tools-2025-02-19': {},
        'tool-examples-2025-10-29': {},
        'tool-search-tool-2025-10-19': { fields: ['/tools/*/defer_loading'] },
      },
      effort: 'effort-2025-11-24',
    },
  }),
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: 'leave_out',
      speed: 'leave_out',
      inference_geo: 'leave_out',
      fallbacks: 'refuse',
    },
    tools: {
      ...EXTRAS.tools,
      web_search: 'leave_out',
      web_fetch: 'leave_out',
      code_execution: 'leave_out',
      mcp: 'leave_out',
      computer: 'allow',
      advisor: 'refuse',
    },
  },
  rules: [{ op: 'drop', path: '/tools/*/eager_input_streaming' }],
}

export const awsBedrockOpenaiHost: HostLayer = {
  dialect: model => model,
  extras: {
    ...EXTRAS,
    fields: {
      ...EXTRAS.fields,
      service_tier: { free: ['auto', 'default', 'flex'] },
    },
  },
  rules: [],
}

/** Every upstream, in the order of the file. */
export const UPSTREAMS: readonly TableUpstream[] = [
  {
    ...UPSTREAM,
    headers: { 'anthropic-version': '2023-06-01' },
    betas: { header: 'anthropic-beta', field: null },
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'anthropic',
    baseUrl: 'https://api.anthropic.com',
    paths: { messages: '/v1/messages', models: '/v1/models' },
    auth: { scheme: 'x-api-key', header: 'x-api-key' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'openai',
    baseUrl: 'https://api.openai.com/v1',
    paths: {
      audio_speech: '/audio/speech',
      chat_completions: '/chat/completions',
      images_edits: '/images/edits',
      images_generations: '/images/generations',
      models: '/models',
      responses: '/responses',
    },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'deepseek',
    baseUrl: 'https://api.deepseek.com',
    paths: {
      chat_completions: '/chat/completions',
      chat_completions_prefilled: '/beta/chat/completions',
      models: '/models',
      responses: '/responses',
    },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'google',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta/openai',
    paths: { chat_completions: '/chat/completions', models: '/models' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'alibaba',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    paths: { chat_completions: '/chat/completions', models: '/models' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'zhipuai',
    baseUrl: 'https://open.bigmodel.cn/api/paas/v4',
    paths: { chat_completions: '/chat/completions', models: '/models' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'moonshotai',
    baseUrl: 'https://api.moonshot.ai/v1',
    paths: { chat_completions: '/chat/completions', models: '/models' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'minimax',
    baseUrl: 'https://api.minimax.io/v1',
    paths: { chat_completions: '/chat/completions', models: '/models' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'xai',
    baseUrl: 'https://api.x.ai/v1',
    paths: { chat_completions: '/chat/completions', models: '/models', responses: '/responses' },
    auth: { scheme: 'bearer', header: 'authorization' },
  },
  {
    ...UPSTREAM,
    wire: 'bedrock',
    betas: { header: 'anthropic-beta', field: 'anthropic_beta' },
    fields: { anthropic_version: 'bedrock-2023-05-31' },
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'aws-bedrock',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com',
    paths: { messages: '/model/{model}/invoke' },
    auth: { scheme: 'sigv4', header: 'authorization', region: 'us-east-1' },
  },
  {
    ...UPSTREAM,
    discount: [{ from: '2026-01-01', share: '1' }],
    id: 'aws-bedrock-openai',
    baseUrl: 'https://bedrock-runtime.{region}.amazonaws.com/openai/v1',
    paths: { chat_completions: '/chat/completions' },
    auth: { scheme: 'sigv4', header: 'authorization', region: 'us-east-1' },
  },
]
