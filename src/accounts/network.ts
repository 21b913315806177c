/** Groups IP addresses for throttling: by host (/32 for IPv4, /64 for IPv6) and by network (/24 and /48). */

import ipaddr from 'ipaddr.js'

const BITS = { host: { ipv4: 32, ipv6: 64 }, network: { ipv4: 24, ipv6: 48 } } as const

/** Returns the network of an address, e.g. `203.0.113.0/24`. Strings that are not IP addresses all map to `unknown`. */
export function networkOf(ipAddress: string): string {
  return cut(ipAddress, BITS.network)
}

/** Returns the host of an address, e.g. `203.0.113.9/32`, or `unknown`. */
export function hostOf(ipAddress: string): string {
  return cut(ipAddress, BITS.host)
}

function cut(ipAddress: string, bitsOf: { readonly ipv4: number; readonly ipv6: number }): string {
  if (!ipaddr.isValid(ipAddress)) return 'unknown'
  const address = ipaddr.process(ipAddress)
  const bits = bitsOf[address.kind()]
  const bytes = address.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes)}/${bits}`
}
