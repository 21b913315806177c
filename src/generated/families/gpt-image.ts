// Generated from catalogue/ and schemas/ by `make generate`; change those instead.

import { DIALECT, ENTRY } from '../defaults.ts'
import type { TableEntry, TableTarget } from '../ids.ts'
import type { Extras, Rule } from '../types.ts'
import { openaiHost } from '../upstreams.ts'

const gptImageFacts = {
  ...ENTRY,
  kind: 'image',
  vendor: 'openai',
  family: 'gpt-image',
  apiStandard: 'images',
} as const satisfies Partial<TableEntry>
const gptImageDialect = DIALECT
const gptImageOnOpenaiExtras: Extras = {
  ...openaiHost.extras,
  fields: {
    ...openaiHost.extras.fields,
    service_tier: 'leave_out',
    quality: { free: ['auto', 'low', 'medium', 'standard'] },
    size: { free: ['auto', '1024x1024', '1536x1024', '1024x1536', '512x512', '256x256'] },
    input_fidelity: { free: ['low'] },
    complexity: { free: ['low', 'medium'] },
    output_format: { free: ['png', 'jpeg', 'webp'] },
  },
}
const gptImageRules: readonly Rule[] = [
  { op: 'drop', path: '/response_format', when: { path: '/response_format', equals: 'b64_json' } },
]
const gptImageOnOpenai = {
  via: 'openai',
  weight: 0,
  cost: [],
  standard: 'images',
  extras: gptImageOnOpenaiExtras,
  rules: [...gptImageRules, ...openaiHost.rules],
} as const satisfies Partial<TableTarget>

const gptImage2Facts = {
  ...gptImageFacts,
  modelName: 'GPT Image 2',
  capabilities: [],
  description: 'Makes and edits pictures from text, text within pictures included; priced per picture.',
  descriptionVi: 'Tạo ảnh và sửa ảnh từ mô tả, kể cả chữ trong ảnh; tính giá theo ảnh.',
  releasedOn: '2026-04-21',
  referencesMax: 4,
} as const satisfies Partial<TableEntry>
const gptImage2Dialect = gptImageDialect
const gptImage2Cost: TableTarget['cost'] = [{ from: '2026-11-01', image: '0.07' }]
const gptImage2OnOpenai = { ...gptImageOnOpenai, cost: gptImage2Cost, dialect: openaiHost.dialect(gptImage2Dialect) }

/** Every entry of the family, in the order of the file. */
export const GPT_IMAGE: readonly TableEntry[] = [
  {
    ...gptImage2Facts,
    id: 'req/gpt-image-2',
    name: 'GPT Image 2',
    channel: 'standard',
    endpoints: ['images_generations', 'images_edits'],
    price: { vnd: 650, per: 'image' },
    aliases: ['gpt-image-2', 'gpt-image-2-2026-04-21'],
    upstreams: [{ ...gptImage2OnOpenai, model: 'gpt-image-2' }],
  },
]
