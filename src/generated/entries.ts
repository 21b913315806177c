// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { CLAUDE } from './families/claude.ts'
import { DEEPSEEK } from './families/deepseek.ts'
import { GEMINI } from './families/gemini.ts'
import { GLM } from './families/glm.ts'
import { GPT } from './families/gpt.ts'
import { GPT_IMAGE } from './families/gpt-image.ts'
import { GPT_OSS } from './families/gpt-oss.ts'
import { GPT_TTS } from './families/gpt-tts.ts'
import { GROK } from './families/grok.ts'
import { KIMI } from './families/kimi.ts'
import { MINIMAX } from './families/minimax.ts'
import { MISTRAL } from './families/mistral.ts'
import { QWEN } from './families/qwen.ts'
import type { TableEntry } from './ids.ts'

/** Every entry, in the order of the files. */
export const ENTRIES: readonly TableEntry[] = [
  ...CLAUDE,
  ...DEEPSEEK,
  ...GEMINI,
  ...GLM,
  ...GPT,
  ...GPT_IMAGE,
  ...GPT_OSS,
  ...GPT_TTS,
  ...GROK,
  ...KIMI,
  ...MINIMAX,
  ...MISTRAL,
  ...QWEN,
]
