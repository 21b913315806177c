/** Restricts connections to allowed addresses. Checks the address that is actually connected to, not an earlier DNS answer. */

import { isIP, type LookupFunction } from 'node:net'
import { lookupWith, publicAddresses, type Resolve } from './addresses.ts'
import { isPublicAddress } from './public-address.ts'

export interface AddressGuardOptions {
  /** Creates the error for a connection to a forbidden address. */
  readonly refusal: () => Error
  /** Decides which addresses may be connected to; by default those on the public internet. */
  readonly isAllowed?: ((address: string) => boolean) | undefined
  /** By default, asks DNS. */
  readonly resolve?: Resolve | undefined
}

export class AddressGuard {
  readonly #options: AddressGuardOptions
  readonly #isAllowed: (address: string) => boolean
  /** For `connect.lookup`. A host name is refused if any of its addresses is forbidden. */
  readonly lookup: LookupFunction

  constructor(options: AddressGuardOptions) {
    this.#options = options
    this.#isAllowed = options.isAllowed ?? isPublicAddress
    const { resolve = publicAddresses } = options
    this.lookup = lookupWith(async hostname => {
      const addresses = await resolve(hostname)
      if (addresses.length === 0 || !addresses.every(this.#isAllowed)) throw this.#options.refusal()
      return addresses
    })
  }

  /** Checks host names that are IP addresses, for which `lookup` is never called. Throws the `refusal`. */
  checkLiteral(hostname: string): void {
    const address = hostname.replace(/^\[|\]$/g, '')
    if (isIP(address) !== 0 && !this.#isAllowed(address)) throw this.#options.refusal()
  }
}
