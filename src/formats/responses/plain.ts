/** Defines which parts of a responses request count as plain (see `conversation/plain.ts`). */

import { ANYTHING, ID, NAME, NOTE, type PlainRequest, ROLE, STRICT, TEXT } from '../../conversation/plain.ts'
import { Form } from '../../lib/json-form.ts'

const part = new Form({ members: { type: new Form({ words: ['input_text', 'output_text'] }), text: TEXT } })
const item = new Form({
  members: {
    type: new Form({ words: ['message', 'function_call', 'function_call_output'], note: NOTE.types }),
    role: ROLE,
    content: new Form({ text: true, each: part }),
    call_id: ID,
    name: NAME,
    arguments: TEXT,
    output: TEXT,
  },
  needs: ['type', 'role'],
})
const tool = new Form({
  members: {
    type: new Form({ words: ['function'] }),
    name: NAME,
    description: TEXT,
    parameters: ANYTHING,
    strict: STRICT,
  },
  needs: ['type'],
})

export const plain: PlainRequest = {
  form: new Form({
    members: { instructions: TEXT, input: new Form({ text: true, each: item }), tools: new Form({ each: tool }) },
  }),
  standIns: () => ({ instructions: '"-"', input: '[{"role":"user","content":""}]', tools: '[{"type":"function"}]' }),
}
