/**
 * Restores chat replies that pass through after the dialect has changed their requests: restores the client's tool names, and
 * takes tagged reasoning out of the text and JSON out of its code fence. The rest stays as the provider wrote it.
 */

import type { TaggedText } from '../../conversation/reasoning-tag.ts'
import { TextUndo, type UndoPlan, undoneText } from '../../conversation/undo-text.ts'
import type { BodyEdit } from '../../lib/edit-tree.ts'
import { arrayOrEmpty, isObject, type JsonObject, type JsonValue, objectOrNull, textOrNull } from '../../lib/json.ts'

/** Returns the edits that restore a non-streamed reply. */
export function undoneReply(reply: JsonObject, undoPlan: UndoPlan): BodyEdit[] {
  return arrayOrEmpty(reply.choices).flatMap((choice, index) => {
    const message = objectOrNull(objectOrNull(choice)?.message)
    if (message === null) return []
    const place = `/choices/${index}/message`
    const text = textOrNull(message.content)
    const spoken = text === null ? [] : spokenEdits(message, place, undoneText(text, undoPlan))
    return [...spoken, ...nameEdits(message, place, undoPlan)]
  })
}

/** Computes the edits that restore each chunk of a stream. */
export class ChunkUndo {
  readonly #undoPlan: UndoPlan
  readonly #texts = new Map<JsonValue | undefined, TextUndo>()

  constructor(undoPlan: UndoPlan) {
    this.#undoPlan = undoPlan
  }

  /** Returns the edits for a chunk. Null: drop the chunk, because all of its text is held back. */
  chunk(chunk: JsonObject): BodyEdit[] | null {
    const choices = arrayOrEmpty(chunk.choices)
    const edits: BodyEdit[] = []
    let isHeld = false
    for (const [place, choice] of choices.entries()) {
      if (!isObject(choice)) continue
      const delta = objectOrNull(choice.delta)
      if (delta === null) continue
      const made = this.#delta(choice, delta, `/choices/${place}/delta`)
      edits.push(...made)
      isHeld ||= made.length > 0 && choices.length === 1 && isNothing(choice, delta, made)
    }
    return isHeld && !isObject(chunk.usage) ? null : edits
  }

  /** Whether further deltas of this choice need no edits. */
  isPlain(choice: JsonObject): boolean {
    return this.#texts.get(choice.index)?.isPlain === true
  }

  /** Returns the text still held back when a stream ends without a finish reason. Only the first choice is handled. */
  end(): TaggedText {
    const [text] = this.#texts.values()
    return text?.end() ?? NOTHING
  }

  #delta(choice: JsonObject, delta: JsonObject, place: string): BodyEdit[] {
    const names = nameEdits(delta, place, this.#undoPlan)
    if (this.#undoPlan.tag === null && !this.#undoPlan.unwrapsFence) return names
    const text = this.#textOf(choice.index)
    const content = textOrNull(delta.content)
    const came = content === null ? NOTHING : text.push(content)
    // A finish reason or a tool call means that the text has ended.
    const isOver = textOrNull(choice.finish_reason) !== null || arrayOrEmpty(delta.tool_calls).length > 0
    const rest = isOver ? text.end() : NOTHING
    const spoken = { reasoning: came.reasoning + rest.reasoning, text: came.text + rest.text }
    return content === null && spoken.text === '' && spoken.reasoning === ''
      ? names
      : [...spokenEdits(delta, place, spoken), ...names]
  }

  #textOf(index: JsonValue | undefined): TextUndo {
    let text = this.#texts.get(index)
    if (text === undefined) {
      text = new TextUndo(this.#undoPlan)
      this.#texts.set(index, text)
    }
    return text
  }
}

const NOTHING: TaggedText = { reasoning: '', text: '' }

/** Whether the edits leave the delta empty: it has only text, and all of that is held back. */
function isNothing(choice: JsonObject, delta: JsonObject, edits: readonly BodyEdit[]): boolean {
  const isEmptied = edits.length === 1 && edits[0]?.op === 'set' && edits[0].value === ''
  const others = Object.keys(delta).filter(key => key !== 'content' && delta[key] !== null && delta[key] !== '')
  return isEmptied && others.length === 0 && textOrNull(choice.finish_reason) === null
}

function spokenEdits(message: JsonObject, place: string, { reasoning, text }: TaggedText): BodyEdit[] {
  const edits: BodyEdit[] = []
  if (text !== message.content) edits.push({ op: 'set', path: `${place}/content`, value: text })
  if (reasoning !== '') {
    const value = (textOrNull(message.reasoning_content) ?? '') + reasoning
    edits.push({ op: 'set', path: `${place}/reasoning_content`, value })
  }
  return edits
}

function nameEdits(message: JsonObject, place: string, { names }: UndoPlan): BodyEdit[] {
  if (names === null) return []
  const edit = (holder: JsonValue | undefined, path: string): BodyEdit[] => {
    const name = textOrNull(objectOrNull(holder)?.name)
    const own = name === null ? null : names.client(name)
    return own === null || own === name ? [] : [{ op: 'set', path: `${path}/name`, value: own }]
  }
  const calls = arrayOrEmpty(message.tool_calls).flatMap((call, index) =>
    ['function', 'custom'].flatMap(member =>
      edit(objectOrNull(call)?.[member], `${place}/tool_calls/${index}/${member}`),
    ),
  )
  return [...calls, ...edit(message.function_call, `${place}/function_call`)]
}
