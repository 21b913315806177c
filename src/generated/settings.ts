// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import type { TableSettings } from './ids.ts'

export const SETTINGS = {
  service: 'svc',
  fallback: 'claude-fable-5',
  aliases: {
    'claude-fable-5-1': 'claude-fable-5',
    'claude-fable-5-2': 'claude-fable-5',
    'claude-haiku-4-5-20251001': 'claude-haiku-4-5',
    'claude-opus-4-5-20251101': 'claude-opus-4-5',
    'claude-opus-5-5': 'claude-opus-5',
    'claude-sonnet-4-5-20250929': 'claude-sonnet-4-5',
    'claude-sonnet-5-5': 'claude-sonnet-5',
    'deepseek-flash': 'deepseek-v4-flash',
    fable: 'claude-fable-5',
    'gpt-5.1-codex-max': 'gpt-6-sol',
    'gpt-5.1-codex-mini': 'gpt-6.1-terra',
    'gpt-5.2-codex': 'gpt-6-sol',
    'gpt-6.1-sol': 'gpt-6-sol',
    opus: 'claude-opus-5',
    sonnet: 'claude-sonnet-5',
  },
  extras: {
    fields: {
      service_tier: {
        otherwise: 'leave_out',
        on: ['messages', 'chat_completions', 'responses', 'images_generations', 'images_edits'],
      },
      speed: { otherwise: 'leave_out', on: ['messages', 'chat_completions', 'responses'], betas: ['fast-mode-*'] },
      inference_geo: { otherwise: 'leave_out', on: ['messages'] },
      fallbacks: { otherwise: 'refuse', on: ['messages'], betas: ['server-side-fallback-*'] },
      best_of: { otherwise: 'leave_out', on: ['messages', 'chat_completions', 'responses'] },
      deferred: { otherwise: 'leave_out', on: ['chat_completions'] },
      quality: { otherwise: 'leave_out', on: ['images_generations', 'images_edits'] },
      size: { otherwise: 'leave_out', on: ['images_generations', 'images_edits'] },
      input_fidelity: { otherwise: 'leave_out', on: ['images_generations', 'images_edits'] },
    },
    tools: {
      web_search: {
        otherwise: 'leave_out',
        matches: [
          { type: 'web_search*' },
          { type: 'live_search' },
          { type: 'google_search*' },
          { type: 'googleSearch*' },
          { type: 'builtin_function', at: '/function/name', values: ['$web_search'] },
        ],
        fields: ['web_search_options', 'search_parameters', 'enable_search'],
        companions: ['search_options'],
        uses: [
          { usage: '/server_tool_use/web_search_requests' },
          { usage: '/tool_usage/web_search/num_requests' },
          { usage: '/server_side_tool_usage_details/web_search_calls' },
          { item: { type: 'web_search_call', at: '/action/type', values: ['search'] } },
          { item: { type: 'server_tool_use', at: '/name', values: ['web_search'] } },
          { call: '$web_search' },
          { annotation: 'url_citation' },
        ],
      },
      web_fetch: {
        otherwise: 'leave_out',
        matches: [{ type: 'web_fetch*' }, { type: 'url_context' }, { type: 'urlContext' }],
        uses: [
          { usage: '/server_tool_use/web_fetch_requests' },
          { item: { type: 'server_tool_use', at: '/name', values: ['web_fetch'] } },
        ],
      },
      x_search: {
        otherwise: 'leave_out',
        matches: [{ type: 'x_search*' }],
        uses: [{ usage: '/server_side_tool_usage_details/x_search_calls' }, { item: { type: 'x_search_call' } }],
      },
      code_execution: {
        otherwise: 'leave_out',
        matches: [{ type: 'code_execution*' }, { type: 'codeExecution' }],
        companions: ['container'],
        betas: ['code-execution-*'],
        uses: [
          {
            item: {
              type: 'server_tool_use',
              at: '/name',
              values: ['code_execution', 'bash_code_execution', 'text_editor_code_execution'],
            },
          },
        ],
      },
      code_interpreter: {
        otherwise: 'leave_out',
        matches: [{ type: 'code_interpreter' }],
        fields: ['enable_code_interpreter'],
        uses: [
          { usage: '/server_side_tool_usage_details/code_interpreter_calls' },
          { item: { type: 'code_interpreter_call' } },
        ],
      },
      image_generation: {
        otherwise: 'leave_out',
        matches: [{ type: 'image_generation*' }],
        uses: [{ item: { type: 'image_generation_call' } }],
      },
      file_search: {
        otherwise: 'leave_out',
        matches: [{ type: 'file_search' }, { type: 'collections_search' }, { type: 'retrieval' }],
        uses: [
          { usage: '/server_side_tool_usage_details/file_search_calls' },
          { item: { type: 'file_search_call' } },
        ],
      },
      mcp: {
        otherwise: 'leave_out',
        matches: [{ type: 'mcp' }, { type: 'mcp_toolset' }],
        fields: ['mcp_servers'],
        betas: ['mcp-client-*', 'mcp-tunnels-*'],
        uses: [
          { usage: '/server_side_tool_usage_details/mcp_calls' },
          { item: { type: 'mcp_call' } },
          { item: { type: 'mcp_tool_use' } },
        ],
      },
      computer: {
        otherwise: 'leave_out',
        matches: [{ type: 'computer*' }],
        uses: [{ item: { type: 'computer_call' } }],
      },
      shell: {
        otherwise: 'leave_out',
        matches: [{ type: 'shell', at: '/environment/type', values: ['container_auto', 'container_reference'] }],
        uses: [{ item: { type: 'shell_call' } }],
      },
      advisor: {
        otherwise: 'refuse',
        matches: [{ type: 'advisor*' }],
        betas: ['advisor-tool-*'],
        uses: [{ item: { type: 'server_tool_use', at: '/name', values: ['advisor'] } }],
      },
    },
  },
  rateLimitPerMinute: 0,
  concurrencyMax: 256,
  digest: 'aa35cc24446b9f3378da5b69fd8045a4f5e22f3621cee7bacefa42e70f90929e',
} as const satisfies TableSettings
