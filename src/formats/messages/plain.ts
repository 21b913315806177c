/** Defines which parts of a messages request count as plain (see `conversation/plain.ts`). */

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
/**
 * Types of content blocks that count as plain. A thinking block must have a signature. Signatures and redacted thinking must be
 * base64. That excludes this gateway's marks, which contain dots and must be removed.
 */
const TYPES = ['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']
const SEALED = (1 << TYPES.indexOf('thinking')) | (1 << TYPES.indexOf('redacted_thinking'))
const SEAL = new Form({ base64: true })
const block = new Form({
  members: {
    type: new Form({ words: TYPES, note: NOTE.types, requiring: 'thinking' }),
    text: TEXT,
    thinking: TEXT,
    signature: SEAL,
    data: SEAL,
    id: ID,
    name: NAME,
    input: ANYTHING,
    tool_use_id: ID,
    content: texts,
    is_error: ANYTHING,
    cache_control: CACHE_MARK,
  },
  required: 'signature',
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

const TURN = '[{"role":"user","content":""}]'
const SEALED_TURN = '[{"role":"user","content":[{"type":"redacted_thinking","data":"-"}]}]'

export const plain: PlainRequest = {
  form: new Form({
    members: { system: texts, messages: new Form({ each: message }), tools: new Form({ each: tool }) },
  }),
  standIns: notes => ({
    system: '""',
    messages: ((notes[NOTE.types] as number) & SEALED) === 0 ? TURN : SEALED_TURN,
    tools: '[{"type":"custom","input_schema":{}}]',
  }),
}
