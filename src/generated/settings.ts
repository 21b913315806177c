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
    fable: 'claude-fable-5',
    opus: 'claude-opus-5',
    sonnet: 'claude-sonnet-5',
  },
  rateLimitPerMinute: 0,
  digest: '00444865264e3d4dadc0b7b21b790ee42c735a00f7c58050b03cac8716e1a5db',
} as const satisfies TableSettings
