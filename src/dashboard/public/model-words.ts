/** Search keywords for models in Vietnamese and English: kind, capabilities, price unit and channel. */

import type { CatalogueItem } from '../../catalogue/catalogue.ts'
import type { Capability, ModelKind } from '../../generated/types.ts'

const CAPABILITY_WORDS: Readonly<Record<Capability, string>> = {
  reasoning: 'suy luận, tư duy, suy nghĩ, reasoning, thinking',
  vision: 'đọc ảnh, nhìn ảnh, xem hình, hình ảnh, thị giác, vision, image input, pictures, photos',
  tools: 'gọi công cụ, gọi hàm, tác tử, tools, functions, agents',
  streaming: '',
}

const KIND_WORDS: Readonly<Record<ModelKind, string>> = {
  chat: 'trò chuyện, hội thoại, văn bản, chat, text',
  image: 'tạo ảnh, vẽ tranh, vẽ hình, sửa ảnh, hình ảnh, image, picture, drawing',
  speech: 'giọng nói, giọng đọc, đọc văn bản, chuyển văn bản thành giọng nói, âm thanh, speech, voice, audio',
}

const UNIT_WORDS = {
  mtok: 'theo token, per token',
  request: 'theo lượt gọi, per call',
  image: 'theo ảnh, per image',
} as const

export function wordsOf({ entry }: CatalogueItem): string {
  const capabilities = entry.capabilities.map(capability => CAPABILITY_WORDS[capability])
  return [KIND_WORDS[entry.kind], ...capabilities, UNIT_WORDS[entry.price.per], entry.channel].join(' ')
}
