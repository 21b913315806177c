/**
 * Basic facts about the endpoints that run a model, for modules that must not import `src/endpoints/`. The complete endpoint
 * records there extend these facts.
 */

import type { Endpoint, ModelKind } from '../generated/types.ts'

export interface EndpointFacts {
  /** The endpoint's number in the tables `hold` and `usage`. Never reuse one. */
  readonly code: number
  readonly path: string
  /** The kind of model that this endpoint serves. */
  readonly makes: ModelKind
  /**
   * JSON pointers of the body fields that the endpoint requires, apart from those that affect billing. Catalogue rules must not
   * remove these fields.
   */
  readonly needs: readonly string[]
}

/** In display order. */
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
