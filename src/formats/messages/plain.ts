/** Defines which parts of a messages request count as plain (see `conversation/plain.ts`). */

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

const text = new Shape({
  members: { type: new Shape({ words: ['text'] }), text: TEXT, cache_control: CACHE_BREAKPOINT },
})
const texts = new Shape({ text: true, each: text })
/**
 * Types of content blocks that count as plain. A thinking block must have a signature. Signatures and redacted thinking must be
 * base64. That excludes this gateway's envelopes, which contain dots and must be removed.
 */
const TYPES = ['text', 'tool_use', 'tool_result', 'thinking', 'redacted_thinking']
const SEALED = (1 << TYPES.indexOf('thinking')) | (1 << TYPES.indexOf('redacted_thinking'))
const SEAL = new Shape({ base64: true })
const block = new Shape({
  members: {
    type: new Shape({ words: TYPES, note: NOTE_INDEX.types, requiring: 'thinking' }),
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
    cache_control: CACHE_BREAKPOINT,
  },
  required: 'signature',
})
const message = new Shape({
  members: { role: ROLE, content: new Shape({ text: true, each: block }) },
  needs: ['role'],
})
const tool = new Shape({
  members: {
    type: new Shape({ words: ['custom'] }),
    name: NAME,
    description: TEXT,
    input_schema: ANYTHING,
    strict: STRICT,
    cache_control: CACHE_BREAKPOINT,
  },
  needs: ['input_schema'],
})

const TURN = '[{"role":"user","content":""}]'
const SEALED_TURN = '[{"role":"user","content":[{"type":"redacted_thinking","data":"-"}]}]'

export const plain: PlainRequest = {
  shape: new Shape({
    members: { system: texts, messages: new Shape({ each: message }), tools: new Shape({ each: tool }) },
  }),
  placeholders: notes => ({
    system: '""',
    messages: ((notes[NOTE_INDEX.types] as number) & SEALED) === 0 ? TURN : SEALED_TURN,
    tools: '[{"type":"custom","input_schema":{}}]',
  }),
}
