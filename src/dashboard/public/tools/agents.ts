/** Coding agents, in the terminal and in editors. */

import { SHELL, type Tool } from './types.ts'

export const AGENTS: readonly Tool[] = [
  {
    // Source: the code of Claude Code 2.1.328 and its documentation of environment variables, read 2026-11-22. Claude Code adds
    // /v1 to the base URL.
    id: 'claude-code',
    name: 'Claude Code',
    smallModel: 'claude-haiku-5-5',
    note: 'quickstart.claude_code',
    blocks: ({ base, key, models }) => [
      {
        label: SHELL,
        code: `export ANTHROPIC_BASE_URL=${base}
export ANTHROPIC_AUTH_TOKEN=${key}
export ANTHROPIC_MODEL=${models.messages}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${models.cheap}
claude`,
      },
    ],
  },
  {
    // Source: Codex 0.169, read 2026-11-22. It only accepts "responses" as `wire_api`.
    id: 'codex',
    name: 'Codex',
    note: 'quickstart.codex',
    blocks: ({ base, key, brand, models }) => [
      {
        label: '~/.codex/config.toml',
        code: `model = "${models.responses}"
model_provider = "gateway"

[model_providers.gateway]
name = "${brand}"
base_url = "${base}/v1"
env_key = "GATEWAY_KEY"
wire_api = "responses"`,
      },
      { label: SHELL, code: `export GATEWAY_KEY=${key}\ncodex` },
    ],
  },
  {
    // Works unchanged with opencode 1.18.33, see `make tools`.
    id: 'opencode',
    name: 'opencode',
    note: 'quickstart.more_models',
    blocks: ({ base, key, brand, models }) => [
      {
        label: 'opencode.json',
        code: JSON.stringify(
          {
            $schema: 'https://opencode.ai/config.json',
            model: `gateway/${models.chat}`,
            small_model: `gateway/${models.cheap}`,
            provider: {
              gateway: {
                npm: '@ai-sdk/openai-compatible',
                name: brand,
                options: { baseURL: `${base}/v1`, apiKey: '{env:GATEWAY_KEY}' },
                models: { [models.chat]: {}, [models.messages]: {}, [models.cheap]: {} },
              },
            },
          },
          null,
          2,
        ),
      },
      { label: SHELL, code: `export GATEWAY_KEY=${key}\nopencode` },
    ],
  },
  {
    // Source: qwenlm.github.io/qwen-code-docs, model providers, read 2026-11-22.
    id: 'qwen-code',
    name: 'qwen-code',
    note: 'quickstart.qwen_code',
    blocks: ({ base, key, brand, models }) => [
      {
        label: '~/.qwen/settings.json',
        code: JSON.stringify(
          {
            security: { auth: { selectedType: 'openai' } },
            model: { name: models.chat },
            modelProviders: {
              openai: [models.chat, models.cheap].map(id => ({
                id,
                name: `${brand} ${id}`,
                baseUrl: `${base}/v1`,
                envKey: 'GATEWAY_KEY',
              })),
            },
          },
          null,
          2,
        ),
      },
      { label: SHELL, code: `export GATEWAY_KEY=${key}\nqwen` },
    ],
  },
  {
    // Source: aider.chat/docs/llms/openai-compat.html, read 2026-11-22.
    id: 'aider',
    name: 'aider',
    note: 'quickstart.aider',
    blocks: ({ base, key, models }) => [
      {
        label: SHELL,
        code: `export OPENAI_API_BASE=${base}/v1
export OPENAI_API_KEY=${key}
aider --model openai/${models.chat} --weak-model openai/${models.cheap}`,
      },
    ],
  },
  {
    // Source: docs.continue.dev/customize/model-providers/top-level/openai, read 2026-11-22.
    id: 'continue',
    name: 'Continue',
    blocks: ({ base, key, brand, models }) => [
      {
        label: '~/.continue/config.yaml',
        code: `name: ${brand}
version: 0.0.1
schema: v1
models:
${[models.chat, models.cheap]
  .map(
    id => `  - name: ${id}
    provider: openai
    model: ${id}
    apiBase: ${base}/v1
    apiKey: ${key}
    roles: [chat, edit, apply]`,
  )
  .join('\n')}`,
      },
    ],
  },
  {
    // Source: docs.cline.bot/provider-config/openai-compatible, read 2026-11-22.
    id: 'cline',
    name: 'Cline',
    note: 'quickstart.editor.text',
    values: () => ({ provider: 'OpenAI Compatible' }),
    fields: ({ base, key, models }) => [
      ['Base URL', `${base}/v1`],
      ['API Key', key],
      ['Model ID', models.chat],
    ],
  },
  {
    // Source: kilo.ai/docs/providers/openai-compatible, read 2026-11-22.
    id: 'kilo',
    name: 'Kilo Code',
    note: 'quickstart.editor.text',
    values: () => ({ provider: 'OpenAI Compatible' }),
    fields: ({ base, key, models }) => [
      ['Base URL', `${base}/v1`],
      ['API Key', key],
      ['Model', models.chat],
    ],
  },
  {
    id: 'cursor',
    name: 'Cursor',
    note: 'quickstart.cursor',
    fields: ({ base, key, models }) => [
      ['OpenAI API Key', key],
      ['Override OpenAI Base URL', `${base}/v1`],
      ['Add model', models.chat],
    ],
  },
]
