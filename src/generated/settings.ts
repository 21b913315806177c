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
  rateLimitPerMinute: 0,
  concurrencyMax: 256,
  digest: '2e65db5ed9c4d4d2966f9d70bc09ed0787b7e2797b1d71949bd6b9f482602989',
} as const satisfies TableSettings
