/** The network that an address belongs to, as throttling counts: /24 of IPv4, /48 of IPv6. */

import ipaddr from 'ipaddr.js'

/** Such as `203.0.113.0/24`; what is no address counts as one network of its own. */
export function networkOf(ipAddress: string): string {
  if (!ipaddr.isValid(ipAddress)) return 'unknown'
  const address = ipaddr.process(ipAddress)
  const bits = address.kind() === 'ipv4' ? 24 : 48
  const bytes = address.toByteArray().map((byte, index) => (index < bits / 8 ? byte : 0))
  return `${ipaddr.fromByteArray(bytes)}/${bits}`
}
