// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY, perCall } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import { openaiHost } from '../upstreams.ts'

const gptTtsFacts = {
  ...ENTRY,
  kind: 'speech',
  vendor: 'openai',
  family: 'gpt-tts',
  apiStandard: 'speech',
} as const satisfies Partial<TableEntry>
const gptTtsDialect = DIALECT
const gptTtsOnOpenai = {
  via: 'openai',
  weight: 0,
  cost: [],
  standard: 'speech',
  extras: openaiHost.extras,
  rules: openaiHost.rules,
} as const satisfies Partial<TableTarget>

const gpt4oMiniTtsFacts = {
  ...gptTtsFacts,
  modelName: 'GPT-4o mini TTS',
  capabilities: [],
  description: 'Reads text aloud; voice and manner of speaking can be chosen.',
  descriptionVi: 'Đọc văn bản thành giọng nói; chọn được giọng và cách đọc.',
} as const satisfies Partial<TableEntry>
const gpt4oMiniTtsDialect = gptTtsDialect
const gpt4oMiniTtsCost: TableTarget['cost'] = [{ from: '2026-11-01', call: '0.015' }]
const gpt4oMiniTtsOnOpenaiPerCall = {
  ...gptTtsOnOpenai,
  cost: gpt4oMiniTtsCost,
  dialect: perCall(openaiHost.dialect(gpt4oMiniTtsDialect)),
}

/** Every entry of the family, in the order of the file. */
export const GPT_TTS: readonly TableEntry[] = [
  {
    ...gpt4oMiniTtsFacts,
    id: 'req/gpt-4o-mini-tts',
    name: 'GPT-4o mini TTS',
    channel: 'standard',
    endpoints: ['audio_speech'],
    price: { vnd: 1350, per: 'request' },
    aliases: ['gpt-4o-mini-tts', 'gpt-4o-mini-tts-2025-12-15'],
    deprecated: { sinceOn: '2026-11-21', retiresOn: '2027-01-06', successor: null },
    upstreams: [{ ...gpt4oMiniTtsOnOpenaiPerCall, model: 'gpt-4o-mini-tts' }],
  },
]
