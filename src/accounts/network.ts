/** The host and the network of an address, for throttling: /32 and /24 for IPv4, /64 and /48 for IPv6. */

import ipaddr from 'ipaddr.js'

const BITS = { host: { ipv4: 32, ipv6: 64 }, network: { ipv4: 24, ipv6: 48 } } as const

/** Returns the network of an address, such as `203.0.113.0/24`. All texts that are not IP addresses count as one network. */
export function networkOf(ipAddress: string): string {
  return cut(ipAddress, BITS.network)
}

/** Such as `203.0.113.9/32`. */
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
