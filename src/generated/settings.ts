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
  digest: '98e7e556bc23fc5cf0443ef3e2d617547ab931546472feae3ee4c4bc88bce19f',
} as const satisfies TableSettings
