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
  digest: 'da02501a74cc8ac1c716d0d1a0038c9791ee2663a90dc664b5972dfe9aefdd25',
} as const satisfies TableSettings
