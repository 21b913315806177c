/**
 * Looks up host names. Node asks the operating system on two threads, for which all lookups of the process queue, and one whose name
 * servers are silent takes 10 s or more. So names from strangers go to DNS without a thread, and each provider's name takes one
 * thread at most.
 */

import { lookup, Resolver } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'

/** Resolves a host name to all its addresses. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

const THIS_MACHINE = /(^|\.)localhost\.?$/i
const DNS_TIMES = { timeout: 2_500, tries: 2 }

/** Asks the operating system, which also knows names that are not in DNS. */
export async function systemAddresses(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true })).map(found => found.address)
}

/** Asks only DNS. IPv4 addresses come first. Rejects if there is neither a reply for IPv4 nor one for IPv6. */
export async function publicAddresses(hostname: string): Promise<readonly string[]> {
  if (THIS_MACHINE.test(hostname)) return systemAddresses(hostname)
  // A new one each time, because each reads the addresses of the name servers only once.
  const dns = new Resolver(DNS_TIMES)
  const replies = await Promise.allSettled([dns.resolve4(hostname), dns.resolve6(hostname)])
  const [fault] = replies.filter(reply => reply.status === 'rejected')
  if (fault !== undefined && replies.every(reply => reply.status === 'rejected')) throw fault.reason
  return replies.flatMap(reply => (reply.status === 'fulfilled' ? reply.value : []))
}

/** As `publicAddresses`, but asks the operating system for names that are not in DNS. */
export async function knownAddresses(hostname: string): Promise<readonly string[]> {
  try {
    return await publicAddresses(hostname)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOTFOUND' || code === 'ENODATA') return systemAddresses(hostname)
    throw error
  }
}

/** Lets everybody who asks for a name while it is being looked up wait for that lookup. */
export function sharing(resolve: Resolve): Resolve {
  const running = new Map<string, Promise<readonly string[]>>()
  return hostname => {
    const known = running.get(hostname)
    if (known !== undefined) return known
    const addresses = resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, addresses)
    return addresses
  }
}

/** For `connect.lookup` of a socket. */
export function lookupWith(resolve: Resolve): LookupFunction {
  return (hostname, { all }, callback) => {
    resolve(hostname).then(
      addresses => {
        const [first] = addresses
        if (!all) callback(null, first as string, isIP(first as string))
        else
          callback(
            null,
            addresses.map(address => ({ address, family: isIP(address) })),
          )
      },
      (error: NodeJS.ErrnoException) => callback(error, ''),
    )
  }
}
