/** Hashes passwords with argon2id into PHC strings, with limited concurrency. */

import { argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import type { QueueLoad } from '../lib/batcher.ts'

/** OWASP's minimum for argon2id (Password Storage Cheat Sheet): 19 MiB, two passes, one lane. */
const MEMORY_KIB = 19_456
const PASSES = 2
const PARALLELISM = 1
const SALT_BYTES = 16
const TAG_BYTES = 32

export interface Passwords {
  /** Returns a PHC string with a new salt. Throws PasswordsBusyError when too many hashes are waiting. */
  hash(password: string): Promise<string>
  /**
   * Whether the password is right; false if `phc` is null. Null takes as long as a real comparison, so that the time does not
   * reveal whether an account is unknown or has no password. Throws PasswordsBusyError when too many hashes are waiting.
   */
  verify(phc: string | null, password: string): Promise<boolean>
  readonly queue: QueueLoad
}

export interface PasswordsOptions {
  /** Maximum number of concurrent hashes in this process; each takes 19 MiB and a thread. */
  readonly parallelMax?: number
  /** Maximum number of waiting hashes; beyond that, `hash` and `verify` throw PasswordsBusyError. */
  readonly waitingMax?: number
}

/** Thrown when too many passwords are waiting to be hashed. */
export class PasswordsBusyError extends Error {}

export function createPasswords({ parallelMax = 3, waitingMax = 200 }: PasswordsOptions = {}): Passwords {
  let running = 0
  const waiting: (() => void)[] = []

  async function limited<Value>(work: () => Promise<Value>): Promise<Value> {
    if (running >= parallelMax) {
      if (waiting.length >= waitingMax) throw new PasswordsBusyError('too many passwords are being checked')
      await new Promise<void>(resolve => waiting.push(resolve))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }

  return {
    get queue() {
      return { name: 'passwords', items: waiting.length, itemsMax: waitingMax }
    },
    hash: password => limited(() => hashPassword(password)),
    verify: (phc, password) => limited(() => verifyPassword(phc, password)),
  }
}

async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  const tag = await derive(password, salt, { memory: MEMORY_KIB, passes: PASSES, parallelism: PARALLELISM })
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${PARALLELISM}$${unpadded(salt)}$${unpadded(tag)}`
}

interface Cost {
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
}

const PHC = /^\$argon2id\$v=19\$m=(\d{1,7}),t=(\d{1,2}),p=(\d{1,2})\$([A-Za-z0-9+/]{11,64})\$([A-Za-z0-9+/]{43})$/

async function verifyPassword(phc: string | null, password: string): Promise<boolean> {
  if (phc === null) {
    await hashPassword(password)
    return false
  }
  const found = PHC.exec(phc)
  if (found === null) throw new Error('a stored password hash is damaged')
  const [, memory, passes, parallelism, salt, tag] = found as unknown as [string, ...string[]]
  const cost = { memory: Number(memory), passes: Number(passes), parallelism: Number(parallelism) }
  const derived = await derive(password, Buffer.from(salt!, 'base64'), cost)
  return timingSafeEqual(derived, Buffer.from(tag!, 'base64'))
}

/** NFKC makes the same password give the same bytes on every keyboard. */
function derive(password: string, nonce: Buffer, cost: Cost): Promise<Buffer> {
  const message = Buffer.from(password.normalize('NFKC'), 'utf8')
  return new Promise((resolve, reject) => {
    argon2('argon2id', { message, nonce, tagLength: TAG_BYTES, ...cost }, (error, tag) => {
      if (error) reject(error)
      else resolve(tag)
    })
  })
}

function unpadded(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
