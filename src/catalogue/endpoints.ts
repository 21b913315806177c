/** The endpoints that run a model, for every room that has to name one: their records in `src/endpoints/` begin with these. */

import type { Endpoint, ModelKind } from '../generated/types.ts'

export interface EndpointFacts {
  /** In the tables `hold` and `usage`; never reused. */
  readonly code: number
  readonly path: string
  /** What the models make that it runs. */
  readonly makes: ModelKind
  /** What its body cannot do without, beside what is billed, as pointers: no rule of the catalogue may take it away. */
  readonly needs: readonly string[]
}

/** In the order in which they are listed everywhere. */
export const ENDPOINT_FACTS = {
  messages: {
    code: 1,
    path: '/v1/messages',
    makes: 'chat',
    needs: ['/messages', '/messages/*/role', '/messages/*/content'],
  },
  chat_completions: {
    code: 2,
    path: '/v1/chat/completions',
    makes: 'chat',
    needs: ['/messages', '/messages/*/role', '/messages/*/content'],
  },
  responses: { code: 6, path: '/v1/responses', makes: 'chat', needs: ['/input'] },
  images_generations: { code: 3, path: '/v1/images/generations', makes: 'image', needs: ['/prompt'] },
  images_edits: { code: 4, path: '/v1/images/edits', makes: 'image', needs: ['/prompt', '/image'] },
  audio_speech: { code: 5, path: '/v1/audio/speech', makes: 'speech', needs: ['/input', '/voice'] },
} as const satisfies Readonly<Record<Endpoint, EndpointFacts>>

export const ENDPOINT_ORDER = Object.keys(ENDPOINT_FACTS) as readonly Endpoint[]

export type EndpointCode = (typeof ENDPOINT_FACTS)[Endpoint]['code']
