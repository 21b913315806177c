/** Writes canonical JSON. Files with the same data give the same text, whatever their order, comments and line endings. */

import { createHash } from 'node:crypto'

export function canonicalJson(value: unknown): string {
  let text = ''
  writeCanonical(value, part => {
    text += part
  })
  return text
}

/** Writes in pieces, because concatenating at every level would copy the text once per level. */
function writeCanonical(value: unknown, write: (part: string) => void): void {
  if (value === null || typeof value !== 'object') {
    write(JSON.stringify(value) ?? 'null')
    return
  }
  let separator = ''
  if (Array.isArray(value)) {
    write('[')
    for (const item of value) {
      write(separator)
      writeCanonical(item, write)
      separator = ','
    }
    write(']')
    return
  }
  const members = value as Readonly<Record<string, unknown>>
  write('{')
  for (const key of Object.keys(members).sort()) {
    if (members[key] === undefined) continue
    write(`${separator}${JSON.stringify(key)}:`)
    writeCanonical(members[key], write)
    separator = ','
  }
  write('}')
}

/** Whether two JSON values are equal, ignoring the order of their members. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === null || other === null || typeof one !== 'object' || typeof other !== 'object') return one === other
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const [members, others] = [one as Readonly<Record<string, unknown>>, other as Readonly<Record<string, unknown>>]
  const keys = Object.keys(members)
  return (
    keys.length === Object.keys(others).length &&
    keys.every(key => Object.hasOwn(others, key) && isSameData(members[key], others[key]))
  )
}

/** SHA-256 of the value's canonical JSON, in hex. */
export function digestOf(value: unknown): string {
  const hash = createHash('sha256')
  let text = ''
  writeCanonical(value, part => {
    text += part
    if (text.length < PART_LENGTH) return
    hash.update(text)
    text = ''
  })
  return hash.update(text).digest('hex')
}

const PART_LENGTH = 65_536
