/** Defines which parts of a responses request count as plain (see `conversation/plain.ts`). */

import { ANYTHING, ID, NAME, NOTE_INDEX, type PlainRequest, ROLE, STRICT, TEXT } from '../../conversation/plain.ts'
import { Shape } from '../../lib/json-shape.ts'

const part = new Shape({ members: { type: new Shape({ words: ['input_text', 'output_text'] }), text: TEXT } })
const item = new Shape({
  members: {
    type: new Shape({ words: ['message', 'function_call', 'function_call_output'], note: NOTE_INDEX.types }),
    role: ROLE,
    content: new Shape({ text: true, each: part }),
    call_id: ID,
    name: NAME,
    arguments: TEXT,
    output: TEXT,
  },
  needs: ['type', 'role'],
})
const tool = new Shape({
  members: {
    type: new Shape({ words: ['function'] }),
    name: NAME,
    description: TEXT,
    parameters: ANYTHING,
    strict: STRICT,
  },
  needs: ['type'],
})

export const plain: PlainRequest = {
  shape: new Shape({
    members: { instructions: TEXT, input: new Shape({ text: true, each: item }), tools: new Shape({ each: tool }) },
  }),
  placeholders: () => ({
    instructions: '"-"',
    input: '[{"role":"user","content":""}]',
    tools: '[{"type":"function"}]',
  }),
}
