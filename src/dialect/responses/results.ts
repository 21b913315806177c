/** How a Responses request represents tool outputs, for `../results.ts`, which moves images and documents out of them. */

import type { JsonObject, JsonValue } from '../../lib/json.ts'
import type { ResultForm } from '../results.ts'
import { isMessage, isOutput } from './items.ts'

export const RESULTS: ResultForm = {
  isResult: isOutput,
  isUser: (value: JsonValue): value is JsonObject => isMessage(value) && value.role === 'user',
  contentKey: 'output',
  idKey: 'call_id',
  media: { input_image: 'image', input_file: 'document' },
  textType: 'input_text',
  userMessage: content => ({ type: 'message', role: 'user', content }),
}
