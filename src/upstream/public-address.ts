/** Tells which addresses are on the public internet, because URLs from clients must not lead anywhere else. */

import ipaddr from 'ipaddr.js'

/** Refused ranges: those in the IANA special-purpose registry, and others that lead to internal networks. */
const CLOSED_IPV4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(range => ipaddr.IPv4.parseCIDR(range))

/** The global unicast block. Everything outside it (mapped, NAT64, unique local, link local) is refused. */
const OPEN_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')
/** Ranges inside `OPEN_IPV6` that are refused: protocol assignments including Teredo, 6to4, documentation. */
const CLOSED_IPV6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'].map(range =>
  ipaddr.IPv6.parseCIDR(range),
)

/** Whether an IP address is on the public internet: dotted decimal IPv4, or IPv6 without brackets. False for any other text. */
export function isPublicAddress(address: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    const parsed = ipaddr.IPv4.parse(address)
    return !CLOSED_IPV4.some(range => parsed.match(range))
  }
  if (!ipaddr.IPv6.isValid(address)) return false
  const parsed = ipaddr.IPv6.parse(address)
  return parsed.match(OPEN_IPV6) && !CLOSED_IPV6.some(range => parsed.match(range))
}
