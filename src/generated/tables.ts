// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { requireWhole } from '../lib/whole-files.ts'
import { ENTRIES } from './entries.ts'
import { SETTINGS } from './settings.ts'
import type { Tables } from './types.ts'
import { UPSTREAMS } from './upstreams.ts'

/** Fails if `make generate` replaced the tables while this process loaded them: it writes this file last. */
requireWhole(new URL('.', import.meta.url), {
  names: [
    'defaults.ts',
    'entries.ts',
    'families/claude.ts',
    'families/deepseek.ts',
    'families/gemini.ts',
    'families/glm.ts',
    'families/gpt-image.ts',
    'families/gpt-oss.ts',
    'families/gpt-tts.ts',
    'families/gpt.ts',
    'families/grok.ts',
    'families/kimi.ts',
    'families/minimax.ts',
    'families/mistral.ts',
    'families/qwen.ts',
    'ids.ts',
    'settings.ts',
    'upstreams.ts',
  ],
  digest: 'affa47e4361b4be75ed00388a4c21b61de2b628c0632e1ac9665b23c4b2be6ff',
})

/** The current catalogue. */
export const TABLES: Tables = { entries: ENTRIES, upstreams: UPSTREAMS, settings: SETTINGS }
