/**
 * Defines which messages and tools of a chat request are plain: they have only text and function calls, so that they are
 * checked but need no parsing (see `conversation/plain.ts`).
 */

import {
  ANYTHING,
  CACHE_BREAKPOINT,
  ID,
  NAME,
  NOTE_INDEX,
  type PlainRequest,
  ROLE,
  STRICT,
  TEXT,
} from '../../conversation/plain.ts'
import { Shape } from '../../lib/json-shape.ts'

const FUNCTION_TYPE = new Shape({ words: ['function'] })

const part = new Shape({
  members: {
    type: new Shape({ words: ['text'], note: NOTE_INDEX.types }),
    text: TEXT,
    cache_control: CACHE_BREAKPOINT,
  },
})
const call = new Shape({
  members: { id: ID, type: FUNCTION_TYPE, function: new Shape({ members: { name: NAME, arguments: TEXT } }) },
})
const message = new Shape({
  members: {
    role: ROLE,
    content: new Shape({ text: true, none: true, each: part }),
    tool_calls: new Shape({ each: call }),
    tool_call_id: ID,
  },
  needs: ['role'],
})
const tool = new Shape({
  members: {
    type: FUNCTION_TYPE,
    function: new Shape({ members: { name: NAME, description: TEXT, parameters: ANYTHING, strict: STRICT } }),
  },
  needs: ['type'],
})

export const plain: PlainRequest = {
  shape: new Shape({ members: { messages: new Shape({ each: message }), tools: new Shape({ each: tool }) } }),
  placeholders: () => ({ messages: '[{"role":"user","content":""}]', tools: '[{"type":"function"}]' }),
}
