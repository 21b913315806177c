/** `POST /v1/images/edits`: makes images from reference images. */

import { ENDPOINT_FACTS } from '../catalogue/endpoints.ts'
import type { ModelEndpoint } from './endpoint.ts'
import { imageCall } from './images/image-call.ts'
import { readEdit } from './images/receive.ts'

export const IMAGES_EDITS: ModelEndpoint = {
  ...ENDPOINT_FACTS.images_edits,
  name: 'images_edits',
  method: 'POST',
  authentication: 'key',
  purpose: 'Edit of a reference image, as JSON or as a form',
  operationId: 'editImage',
  operation: {
    summary: 'Generate from a reference image',
    description: 'Takes JSON, or the form (`multipart/form-data`) that official SDKs send. PNG, JPEG, WebP and GIF.',
    request: 'ImageEditRequest',
    requestType: 'multipart/form-data',
    reply: 'ImageReply',
    billed: true,
    endpoint: 'images_edits',
    example: {
      prompt: 'Tô màu đỏ',
      image: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    },
  },
  traced: { operation: 'generate_content', output: 'image' },
  namedEvents: false,
  kind: imageCall((call, limits) => readEdit(call.takeBody(), call.header('content-type'), limits)),
}
