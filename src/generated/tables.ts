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
  digest: '8d06554503386417b2943add024e68ff21ce6adade4ce845dfa7a4531dc228c9',
})

/** The current catalogue. */
export const TABLES: Tables = { entries: ENTRIES, upstreams: UPSTREAMS, settings: SETTINGS }
