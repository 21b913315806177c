/** Transport faults of calls to providers. Their messages contain no address and no credential, so they may be logged. */

import type { PlainFault } from '../lib/fault-text.ts'

/**
 * `unread`: the client did not read the reply in time, so the provider is not to blame. `exhausted`: this machine could not open a
 * connection.
 */
export type FaultKind = 'exhausted' | 'connect' | 'timeout' | 'reset' | 'aborted' | 'unread' | 'oversized' | 'garbage'

const KIND_OF_CODE: Readonly<Record<string, FaultKind>> = {
  EMFILE: 'exhausted',
  ENFILE: 'exhausted',
  ENOBUFS: 'exhausted',
  ENOMEM: 'exhausted',
  // No local port is left for this address.
  EADDRNOTAVAIL: 'exhausted',
  // A name could not be looked up for lack of a file descriptor.
  EBUSY: 'exhausted',
  ECONNREFUSED: 'connect',
  ENOTFOUND: 'connect',
  EAI_AGAIN: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  UND_ERR_CONNECT_TIMEOUT: 'connect',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ETIMEDOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'reset',
  UND_ERR_HEADERS_OVERFLOW: 'garbage',
}

export class UpstreamFault extends Error implements PlainFault {
  readonly mayBeLogged = true
  readonly kind: FaultKind

  constructor(kind: FaultKind, message: string) {
    super(message)
    this.name = 'UpstreamFault'
    this.kind = kind
  }

  /** Converts any error of undici or of a socket to a fault. */
  static from(error: unknown): UpstreamFault {
    if (error instanceof UpstreamFault) return error
    const { code = '', name = '' } = error instanceof Error ? (error as NodeJS.ErrnoException) : {}
    if (code.startsWith('HPE_') || name === 'HTTPParserError')
      return new UpstreamFault('garbage', 'the provider does not speak HTTP')
    return new UpstreamFault(KIND_OF_CODE[code] ?? 'connect', code || 'the connection failed')
  }
}
