/** What each operation of the API takes and gives. Examples name no model: the document fills in one that is served there. */

import type { Endpoint } from '../../generated/types.ts'

export interface Operation {
  readonly summary: string
  readonly description: string
  /** Names in SCHEMAS. */
  readonly request: string | null
  readonly reply: string | null
  /** Content type of the reply, when it is no JSON. */
  readonly replyType?: string
  readonly streams?: true
  /** Charged when it succeeds. */
  readonly billed: boolean
  /** Whose models the example may name. */
  readonly endpoint?: Endpoint
  readonly example?: Readonly<Record<string, unknown>>
}

const GREETING = [{ role: 'user', content: 'Xin chào' }]

/** By operation id, as the route table names them. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  createMessage: {
    summary: 'Answer in the messages format (recommended)',
    description: 'Every chat model can be called here, whatever its native format: the gateway converts.',
    request: 'MessagesRequest',
    reply: 'MessagesReply',
    streams: true,
    billed: true,
    endpoint: 'messages',
    example: { max_tokens: 200, messages: GREETING },
  },
  createChatCompletion: {
    summary: 'Answer in the Chat Completions format',
    description: 'Every chat model can be called here, whatever its native format: the gateway converts.',
    request: 'ChatRequest',
    reply: 'ChatReply',
    streams: true,
    billed: true,
    endpoint: 'chat_completions',
    example: { messages: GREETING },
  },
  createResponse: {
    summary: 'Answer in the Responses format',
    description: 'Relayed unchanged; the price list says which models are served here.',
    request: 'ResponsesRequest',
    reply: 'ResponsesReply',
    streams: true,
    billed: true,
    endpoint: 'responses',
    example: { input: 'Xin chào' },
  },
  createImage: {
    summary: 'Draw images',
    description: 'The price is per image returned.',
    request: 'ImageRequest',
    reply: 'ImageReply',
    billed: true,
    endpoint: 'images_generations',
    example: { prompt: 'Hoa sen trên hồ lúc bình minh', size: '1024x1024' },
  },
  editImage: {
    summary: 'Draw from a reference image',
    description: 'Takes JSON, or the form (`multipart/form-data`) that official SDKs send. PNG, JPEG, WebP and GIF.',
    request: 'ImageEditRequest',
    reply: 'ImageReply',
    billed: true,
    endpoint: 'images_edits',
    example: {
      prompt: 'Tô màu đỏ',
      image: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    },
  },
  createSpeech: {
    summary: 'Speak a text',
    description: 'The reply is audio; the price is per call.',
    request: 'SpeechRequest',
    reply: null,
    replyType: 'audio/mpeg',
    billed: true,
    endpoint: 'audio_speech',
    example: { input: 'Xin chào', voice: 'alloy' },
  },
  countTokens: {
    summary: 'Estimate input tokens',
    description: 'Free, also with an empty balance.',
    request: 'CountRequest',
    reply: 'CountReply',
    billed: false,
    endpoint: 'messages',
    example: { messages: GREETING },
  },
  listModels: {
    summary: 'List models with their prices',
    description: 'Filters: `channel`, `endpoint`, `capability`. Pages: `limit`, `after_id`, `before_id`.',
    request: null,
    reply: 'ModelList',
    billed: false,
  },
  readModel: {
    summary: 'One model, by id or alias',
    description: 'A slash in the id may be written as it is or as `%2F`.',
    request: null,
    reply: 'Model',
    billed: false,
  },
}
