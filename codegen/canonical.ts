/** One text for one meaning: JSON with sorted keys, whatever order, comments and line ends the files have. */

import { createHash } from 'node:crypto'

export function canonicalJson(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  let text = ''
  if (Array.isArray(value)) {
    for (const item of value) text += (text === '' ? '' : ',') + canonicalJson(item)
    return `[${text}]`
  }
  const members = value as Readonly<Record<string, unknown>>
  for (const key of Object.keys(members).sort()) {
    const member = members[key]
    if (member !== undefined) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(member)}`
  }
  return `{${text}}`
}

/** Whether two values read from JSON are the same, but for the order of their members. */
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

/** SHA-256 in hex. */
export function digestOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex')
}
