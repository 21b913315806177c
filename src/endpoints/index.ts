/** Every endpoint, in display order. */

import type { Endpoint } from '../generated/types.ts'
import { AUDIO_SPEECH } from './audio-speech.ts'
import { CHAT_COMPLETIONS } from './chat-completions.ts'
import { COUNT_TOKENS } from './count-tokens.ts'
import type { FreeEndpoint, ModelEndpoint } from './endpoint.ts'
import { IMAGES_EDITS } from './images-edits.ts'
import { IMAGES_GENERATIONS } from './images-generations.ts'
import { INPUT_TOKENS } from './input-tokens.ts'
import { MESSAGES } from './messages.ts'
import { RESPONSES } from './responses.ts'

const BY_NAME: Readonly<Record<Endpoint, ModelEndpoint>> = {
  messages: MESSAGES,
  chat_completions: CHAT_COMPLETIONS,
  responses: RESPONSES,
  images_generations: IMAGES_GENERATIONS,
  images_edits: IMAGES_EDITS,
  audio_speech: AUDIO_SPEECH,
}

export const MODEL_ENDPOINTS: readonly ModelEndpoint[] = Object.values(BY_NAME)

export const FREE_ENDPOINTS: readonly FreeEndpoint[] = [COUNT_TOKENS, INPUT_TOKENS]

export function endpointOf(name: Endpoint): ModelEndpoint {
  return BY_NAME[name]
}
