/** `POST /v1/audio/speech`. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import { EXAMPLE_GREETING, type ModelEndpoint } from './endpoint.ts'
import { speechCall } from './speech-call.ts'

export const AUDIO_SPEECH: ModelEndpoint = {
  ...ENDPOINT_FACTS.audio_speech,
  name: 'audio_speech',
  method: 'POST',
  authentication: 'key',
  purpose: 'Text to speech',
  operationId: 'createSpeech',
  operation: {
    summary: 'Turn text into speech',
    description: 'The reply is audio; the price is per call.',
    request: 'SpeechRequest',
    reply: null,
    replyType: 'audio/mpeg',
    billed: true,
    endpoint: 'audio_speech',
    example: { input: EXAMPLE_GREETING, voice: 'alloy' },
  },
  traced: { operation: 'generate_content', output: 'speech' },
  namedEvents: false,
  kind: speechCall(),
}
