/** `POST /v1/images/generations`. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { imageCall } from './images/image-call.ts'
import { readGeneration } from './images/receive.ts'

export const IMAGES_GENERATIONS: ModelEndpoint = {
  ...ENDPOINT_FACTS.images_generations,
  name: 'images_generations',
  method: 'POST',
  authentication: 'key',
  purpose: 'Image generation',
  operationId: 'createImage',
  operation: {
    summary: 'Generate images',
    description: 'The price is per image returned.',
    request: 'ImageRequest',
    reply: 'ImageReply',
    billed: true,
    endpoint: 'images_generations',
    example: { prompt: 'Hoa sen trên hồ lúc bình minh', size: '1024x1024' },
  },
  traced: { operation: 'generate_content', output: 'image' },
  namedEvents: false,
  kind: imageCall((call, limits) => readGeneration(call.takeBody(), limits)),
}
