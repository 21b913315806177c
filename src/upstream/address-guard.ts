/** Restricts connections to allowed addresses. Checks the address that is actually connected to, not an earlier DNS answer. */

import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isPublicAddress } from './public-address.ts'

export interface AddressGuardOptions {
  /** Creates the error for a connection to a forbidden address. */
  readonly refusal: () => Error
  /** Decides which addresses may be connected to; by default those on the public internet. */
  readonly isAllowed?: ((address: string) => boolean) | undefined
  /** Resolves a host name to all its addresses; replaced only in tests. */
  readonly resolve?: ((hostname: string) => Promise<readonly string[]>) | undefined
}

export class AddressGuard {
  readonly #options: AddressGuardOptions
  readonly #isAllowed: (address: string) => boolean
  readonly #resolve: (hostname: string) => Promise<readonly string[]>

  constructor(options: AddressGuardOptions) {
    this.#options = options
    this.#isAllowed = options.isAllowed ?? isPublicAddress
    this.#resolve = options.resolve ?? systemAddresses
  }

  /** Checks host names that are IP addresses, for which `lookup` is never called. Throws the `refusal`. */
  checkLiteral(hostname: string): void {
    const address = hostname.replace(/^\[|\]$/g, '')
    if (isIP(address) !== 0 && !this.#isAllowed(address)) throw this.#options.refusal()
  }

  /** For `connect.lookup`. A host name is refused if any of its addresses is forbidden. */
  readonly lookup: LookupFunction = (hostname, lookupOptions, callback) => {
    this.#resolve(hostname).then(
      addresses => {
        if (addresses.length === 0 || !addresses.every(this.#isAllowed)) callback(this.#options.refusal(), '')
        else if (lookupOptions.all)
          callback(
            null,
            addresses.map(address => ({ address, family: isIP(address) })),
          )
        else callback(null, addresses[0] as string, isIP(addresses[0] as string))
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}

async function systemAddresses(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(found => found.address)
}
