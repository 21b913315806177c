/**
 * Defines which messages and tools of a chat request are plain: they have only text and function calls, so that they are
 * checked but need no parsing (see `conversation/plain.ts`).
 */

import {
  ANYTHING,
  CACHE_MARK,
  ID,
  NAME,
  NOTE,
  type PlainRequest,
  ROLE,
  STRICT,
  TEXT,
} from '../../conversation/plain.ts'
import { Form } from '../../lib/json-form.ts'

const FUNCTION_TYPE = new Form({ words: ['function'] })

const part = new Form({
  members: { type: new Form({ words: ['text'], note: NOTE.types }), text: TEXT, cache_control: CACHE_MARK },
})
const call = new Form({
  members: { id: ID, type: FUNCTION_TYPE, function: new Form({ members: { name: NAME, arguments: TEXT } }) },
})
const message = new Form({
  members: {
    role: ROLE,
    content: new Form({ text: true, none: true, each: part }),
    tool_calls: new Form({ each: call }),
    tool_call_id: ID,
  },
  needs: ['role'],
})
const tool = new Form({
  members: {
    type: FUNCTION_TYPE,
    function: new Form({ members: { name: NAME, description: TEXT, parameters: ANYTHING, strict: STRICT } }),
  },
  needs: ['type'],
})

export const plain: PlainRequest = {
  form: new Form({ members: { messages: new Form({ each: message }), tools: new Form({ each: tool }) } }),
  standIns: () => ({ messages: '[{"role":"user","content":""}]', tools: '[{"type":"function"}]' }),
}
