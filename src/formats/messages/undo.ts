/**
 * Edits messages replies that pass through, to reverse the effects of changes made to the request: restores the client's tool
 * names, and removes the code fence around JSON. The rest stays as the provider wrote it.
 */

import { FenceFilter, withoutFence } from '../../conversation/code-fence.ts'
import type { UndoPlan } from '../../conversation/undo-text.ts'
import { ascii, type ByteText, concat, NO_BYTES } from '../../lib/byte-text.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'
import { asciiJson } from '../../lib/json-text.ts'

/** Returns the edits that restore tool names and remove code fences in a non-streamed reply. */
export function undoneReply(reply: JsonObject, { names, unwrapsFence }: UndoPlan): BodyEdit[] {
  return arrayOrEmpty(reply.content).flatMap((block, index): BodyEdit[] => {
    if (!isObject(block)) return []
    const place = `/content/${index}`
    if (block.type === 'tool_use') return nameEdit(block, place, names)
    const text = block.type === 'text' && unwrapsFence ? textOrNull(block.text) : null
    const bare = text === null ? null : withoutFence(text)
    return bare === null || bare === text ? [] : [{ op: 'set', path: `${place}/text`, value: bare }]
  })
}

/** Makes the edits that restore tool names and remove code fences in the events of one stream. */
export class EventUndo {
  readonly #undoPlan: UndoPlan
  /** Fence filter of the open text block. */
  #fence: FenceFilter | null = null

  constructor(undoPlan: UndoPlan) {
    this.#undoPlan = undoPlan
  }

  /** Whether deltas need no edits until the next block starts. */
  get isPlain(): boolean {
    return this.#fence === null || this.#fence.isPlain
  }

  start(event: JsonObject): BodyEdit[] {
    const block = objectOrNull(event.content_block)
    this.#fence = block?.type === 'text' && this.#undoPlan.unwrapsFence ? new FenceFilter() : null
    return block?.type === 'tool_use' ? nameEdit(block, '/content_block', this.#undoPlan.names) : []
  }

  /** Returns the edits for a delta; null if the event must be dropped, because all of its text is held back. */
  delta(event: JsonObject): BodyEdit[] | null {
    const text = textOrNull(objectOrNull(event.delta)?.text)
    if (this.#fence === null || text === null) return []
    const shown = this.#fence.push(text)
    if (shown === '') return null
    return shown === text ? [] : [{ op: 'set', path: '/delta/text', value: shown }]
  }

  /** Ends a block. Returns an event with the text that was still held back, if any. */
  stop(index: JsonValue | undefined): ByteText {
    const text = this.#fence?.end() ?? ''
    this.#fence = null
    if (text === '') return NO_BYTES
    const event = { type: 'content_block_delta', index, delta: { type: 'text_delta', text } }
    return concat(ascii('event: content_block_delta\ndata: '), asciiJson(event), ascii('\n\n'))
  }
}

function nameEdit(block: JsonObject, place: string, names: UndoPlan['names']): BodyEdit[] {
  const name = textOrNull(block.name)
  const own = name === null || names === null ? null : names.client(name)
  return own === null || own === name ? [] : [{ op: 'set', path: `${place}/name`, value: own }]
}
