/**
 * Reads request bodies without parsing the values of plain members (see `conversation/plain.ts`), such as text-only messages.
 * Most calls that need no conversion never use these values.
 */

import { isAscii } from 'node:buffer'
import type { PlainRequest } from '../conversation/plain.ts'
import {
  ascii,
  type ByteText,
  characters,
  concat,
  decodeText,
  isAsciiText,
  joinBytes,
  ofCharacters,
  toBuffer,
} from '../lib/byte-text.ts'
import { type JsonObject, parseText } from '../lib/json.ts'
import { OUTLINE_BYTES_MAX, type Outline, readOutline } from '../lib/json-outline.ts'
import { parseScanned, SHORT_BYTES } from '../lib/json-parse.ts'
import { MEMBERS_MAX } from '../lib/json-scan.ts'
import { decodeKey, hasDuplicates, type Member } from '../lib/json-text.ts'
import { inTurn } from '../lib/loop-turns.ts'

interface UnreadFacts {
  readonly notes: readonly number[]
  /** Whether the text is ASCII and needs no decoding. */
  readonly isAscii: boolean
  /** Whether the text may contain field names with escapes, so that it must be parsed with `parseText`. */
  readonly mayEscapeKeyCharacters: boolean
}

/** The values of a JSON object, parsed on first use. */
export class UnreadValues {
  /** Facts about the plain members' values, collected while the body was scanned. NOTE_INDEX has the index of each fact. */
  readonly notes: readonly number[]
  readonly #text: ByteText
  readonly #facts: UnreadFacts
  #json: JsonObject | null = null

  constructor(text: ByteText, facts: UnreadFacts) {
    this.#text = text
    this.#facts = facts
    this.notes = facts.notes
  }

  get json(): JsonObject {
    return this.read(null)
  }

  /** Parses on first use. Pass the text's bytes if you have them, to save a copy. */
  read(bytes: Buffer | null): JsonObject {
    this.#json ??= this.#parse(bytes)
    return this.#json
  }

  #parse(bytes: Buffer | null): JsonObject {
    const { isAscii, mayEscapeKeyCharacters } = this.#facts
    const text = isAscii ? characters(this.#text) : (bytes ?? toBuffer(this.#text)).toString('utf8')
    return (mayEscapeKeyCharacters ? parseText(text) : JSON.parse(text)) as JsonObject
  }

  /** Releases the values; the next use parses them again. */
  forget(): void {
    this.#json = null
  }

  /** Whether the values have been parsed. */
  get built(): boolean {
    return this.#json !== null
  }
}

export interface OutlinedBody {
  readonly members: readonly Member[]
  readonly outline: JsonObject
  /** Null if `outline` contains all values. */
  readonly unread: UnreadValues | null
}

interface OutlineOptions {
  readonly plain: PlainRequest
  /** Maximum number of JSON values allowed. */
  readonly valuesMax: number
}

/**
 * Reads a body without parsing the values of its plain members. `bytes` and `text` have the same content. Returns null for a
 * body that is large, unusual or possibly invalid, and must be parsed completely.
 */
export async function readOutlined(
  bytes: Buffer,
  text: ByteText,
  { plain, valuesMax }: OutlineOptions,
): Promise<OutlinedBody | null> {
  const { length } = bytes
  // Every value but the last takes at least two characters, so a body this short cannot have too many values.
  if (length > OUTLINE_BYTES_MAX || length > valuesMax * 2) return null
  const read = () => readOutline(bytes, plain.shape)
  const found = length <= SHORT_BYTES ? read() : await inTurn(read)
  if (found === null || found.members.length > MEMBERS_MAX) return null
  const members = membersIn(text, found)
  if (hasDuplicates(members)) return null
  if (found.plain) {
    const facts = { notes: found.notes, isAscii: isAscii(bytes), mayEscapeKeyCharacters: found.mayEscapeKeyCharacters }
    return {
      members,
      outline: outlineOf(text, members, plain.placeholders(found.notes)),
      unread: new UnreadValues(text, facts),
    }
  }
  const json = (await parseScanned(bytes, text, { longTexts: [], longNumbers: [] })) as JsonObject
  return { members, outline: json, unread: null }
}

export function membersIn(text: ByteText, { members }: Pick<Outline, 'members'>): Member[] {
  return members.map(({ keyStart, keyEnd, valueStart, valueEnd }) => {
    return { key: decodeKey(text.slice(keyStart + 1, keyEnd - 1)), keyStart, valueStart, valueEnd }
  })
}

/** Parses an object with placeholders in place of the values of its plain members. */
function outlineOf(
  text: ByteText,
  members: readonly Member[],
  placeholders: Readonly<Record<string, string>>,
): JsonObject {
  const written = members.map(({ key, keyStart, valueStart, valueEnd }) => {
    const placeholder = Object.hasOwn(placeholders, key) ? placeholders[key] : undefined
    if (placeholder === undefined) return text.slice(keyStart, valueEnd)
    return concat(text.slice(keyStart, valueStart), ofCharacters(placeholder))
  })
  const json = concat(ascii('{'), joinBytes(written, ','), ascii('}'))
  return parseText(isAsciiText(characters(json)) ? characters(json) : decodeText(json)) as JsonObject
}
