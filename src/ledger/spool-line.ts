/** One line of the spool: a settlement as JSON, or the id of a call that is durable. */

import { isUuid } from '../lib/ids.ts'
import { microVnd } from '../lib/money.ts'
import { ENDPOINT_CODES, type Settlement } from './types.ts'

export function writeSettlement(settlement: Settlement): string {
  const { costMicroVnd, openedAt } = settlement
  return `${JSON.stringify({ ...settlement, costMicroVnd: String(costMicroVnd), openedAt: openedAt.toISOString() })}\n`
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
