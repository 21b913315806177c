/** What counts as plain in a messages request. */

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

const text = new Form({ members: { type: new Form({ words: ['text'] }), text: TEXT, cache_control: CACHE_MARK } })
const texts = new Form({ text: true, each: text })
const block = new Form({
  members: {
    type: new Form({ words: ['text', 'tool_use', 'tool_result'], note: NOTE.types }),
    text: TEXT,
    id: ID,
    name: NAME,
    input: ANYTHING,
    tool_use_id: ID,
    content: texts,
    is_error: ANYTHING,
    cache_control: CACHE_MARK,
  },
})
const message = new Form({
  members: { role: ROLE, content: new Form({ text: true, each: block }) },
  needs: ['role'],
})
const tool = new Form({
  members: {
    type: new Form({ words: ['custom'] }),
    name: NAME,
    description: TEXT,
    input_schema: ANYTHING,
    strict: STRICT,
    cache_control: CACHE_MARK,
  },
  needs: ['input_schema'],
})

export const plain: PlainRequest = {
  form: new Form({
    members: { system: texts, messages: new Form({ each: message }), tools: new Form({ each: tool }) },
  }),
  standIns: {
    system: '""',
    messages: '[{"role":"user","content":""}]',
    tools: '[{"type":"custom","input_schema":{}}]',
  },
}
