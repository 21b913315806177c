/** Reads environment variables one by one and reports all faults together. */

import { HOW_TO_ENCODE, readDatabaseAddress } from '../lib/database-address.ts'
import { parseSecretSet } from '../lib/secrets.ts'
import type { LimitRow } from './limits.ts'

/** Lists every missing or invalid environment variable, one per line. */
export class ConfigError extends Error {
  readonly faults: readonly string[]

  constructor(faults: readonly string[]) {
    super(
      `The environment has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:\n  ${faults.join('\n  ')}`,
    )
    this.name = 'ConfigError'
    this.faults = faults
  }
}

export class Reader {
  readonly faults: string[] = []
  readonly #environment: Readonly<Record<string, string | undefined>>

  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#environment = environment
  }

  text(name: string): string | null {
    const value = this.#environment[name]?.trim()
    return value === undefined || value === '' ? null : value
  }

  integer(name: string, { fallback, min, max }: LimitRow): number {
    const value = this.text(name)
    if (value === null) return fallback
    const number = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (number >= min && number <= max) return number
    this.faults.push(`${name} is ${JSON.stringify(value)}; write a whole number from ${min} to ${max}`)
    return fallback
  }

  choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
    const value = this.text(name)
    if (value === null) return fallback
    const choice = choices.find(candidate => candidate === value)
    if (choice !== undefined) return choice
    this.faults.push(`${name} is ${JSON.stringify(value)}; write one of ${choices.join(', ')}`)
    return fallback
  }

  /** Reads a URL. Fault messages never contain it, since it may include a password. */
  url(name: string, protocols: readonly string[]): string | null {
    const value = this.text(name)
    if (value === null) return null
    const beginnings = protocols.map(protocol => `${protocol}//`)
    if (!beginnings.some(beginning => value.toLowerCase().startsWith(beginning))) {
      this.faults.push(`${name} is not a URL; write one that begins with ${beginnings.join(' or ')}`)
      return null
    }
    if (isWholeUrl(value)) return value.replace(/\/$/, '')
    this.faults.push(`${name} cannot be read as a URL; ${HOW_TO_ENCODE}`)
    return null
  }

  /** Reads the address of a Postgres. */
  database(name: string): string | null {
    const value = this.text(name)
    try {
      if (value !== null) readDatabaseAddress(value)
    } catch (error) {
      this.faults.push(`${name} ${(error as Error).message}`)
    }
    return value
  }

  secretSet(name: string): string | null {
    const value = this.text(name)
    if (value === null) return null
    try {
      parseSecretSet(name, value)
      return value
    } catch (error) {
      this.faults.push((error as Error).message)
      return null
    }
  }
}

/** Whether a URL is valid, not cut off by a `#` in its password, and its user and password can be decoded. */
function isWholeUrl(text: string): boolean {
  try {
    const { hash, username, password } = new URL(text)
    decodeURIComponent(username + password)
    return hash === ''
  } catch {
    return false
  }
}
