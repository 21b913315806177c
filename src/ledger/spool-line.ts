/** One line of the spool: a settlement as JSON, or the id of a call that is durable. */

import { isUuid } from '../lib/ids.ts'
import { microVnd } from '../lib/money.ts'
import { ENDPOINT_CODES, type Settlement } from './types.ts'

export function writeSettlement(settlement: Settlement): string {
  let line = '{'
  for (const name in settlement) line += `"${name}":${written(settlement[name as keyof Settlement])},`
  return `${line.slice(0, -1)}}\n`
}

/** As JSON; amounts of money and times are strings. */
function written(value: Settlement[keyof Settlement]): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'bigint':
      return `"${value}"`
    default:
      return value instanceof Date ? `"${value.toISOString()}"` : String(value)
  }
}

/** Null for a line that is damaged. */
export function readSettlement(line: string): { done: string } | { done: null; settlement: Settlement } | null {
  let value: Readonly<Record<string, unknown>>
  try {
    value = JSON.parse(line)
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  if (typeof value.done === 'string') return { done: value.done }
  const { costMicroVnd, openedAt, ...plain } = value
  if (typeof plain.callId !== 'string' || !isUuid(plain.callId)) return null
  if (!Object.values<unknown>(ENDPOINT_CODES).includes(plain.endpoint)) return null
  if (typeof costMicroVnd !== 'string' || !/^\d{1,19}$/.test(costMicroVnd) || typeof openedAt !== 'string') return null
  const rest = plain as unknown as Omit<Settlement, 'costMicroVnd' | 'openedAt'>
  return {
    done: null,
    settlement: { ...rest, costMicroVnd: microVnd(BigInt(costMicroVnd)), openedAt: new Date(openedAt) },
  }
}
