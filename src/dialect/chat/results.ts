/** Adapts tool results in a chat request. */

import { isObject, type JsonObject, type JsonValue } from '../../lib/json.ts'
import type { ResultForm } from '../results.ts'

export const RESULTS: ResultForm = {
  isResult: (value): value is JsonObject => isObject(value) && (value.role === 'tool' || value.role === 'function'),
  isUser: (value: JsonValue): value is JsonObject => isObject(value) && value.role === 'user',
  contentKey: 'content',
  idKey: 'tool_call_id',
  media: { image_url: 'image', file: 'document' },
  textType: 'text',
  userMessage: content => ({ role: 'user', content }),
}
