/**
 * Posts to URLs that customers give: over TLS to the public internet, without following redirects, within a time limit and
 * without reading the reply. An operator may allow private networks, where plain http and every port are allowed too.
 */

import ipaddr from 'ipaddr.js'
import { request } from 'undici'
import { AddressGuard } from '../upstream/address-guard.ts'
import { knownAddresses, publicAddresses, type Resolve } from '../upstream/addresses.ts'
import { fewInterim } from '../upstream/interim.ts'
import { OwnAgents } from '../upstream/own-agents.ts'
import { isPublicAddress } from '../upstream/public-address.ts'

export interface WebhookClientOptions {
  /** Time limit in ms, from the first DNS lookup to the status. */
  readonly timeoutMs: number
  /** Private networks that may be reached, such as `10.20.0.0/16`; none in most installations. */
  readonly privateNetworks: readonly string[]
  /** Replaced only in tests. */
  readonly resolve?: Resolve
}

/** Why there was no answer, or why nothing was sent. */
export type WebhookFault = 'url' | 'address' | 'timeout' | 'certificate' | 'connection'

export type WebhookAnswer =
  | { readonly status: number; readonly retryAfter: string | null }
  | { readonly fault: WebhookFault }

export interface WebhookClient {
  /** Checks a URL without sending anything. Returns what is wrong with it; null if nothing is. */
  check(url: string): 'url' | 'address' | null
  post(url: string, headers: Readonly<Record<string, string>>, body: string): Promise<WebhookAnswer>
  close(): Promise<void>
}

export const WEBHOOK_URL_LENGTH_MAX = 2_000
/** The only ports allowed on public addresses, so that webhooks cannot be used to scan for open ones. */
const PORTS: ReadonlySet<string> = new Set(['', '443', '8443'])
const ANSWER_HEADER_BYTES_MAX = 16 * 1024

class ForbiddenAddress extends Error {}

export function createWebhookClient({ timeoutMs, privateNetworks, ...options }: WebhookClientOptions): WebhookClient {
  // Names in private networks need not be in DNS.
  const { resolve = privateNetworks.length === 0 ? publicAddresses : knownAddresses } = options
  const isPrivate = inNetworks(privateNetworks)
  const routes = {
    open: createRoute(address => isPublicAddress(address) || isPrivate(address), { timeoutMs, resolve }),
    inside: createRoute(isPrivate, { timeoutMs, resolve }),
  }
  /**
   * Returns the parsed URL and the agents for requests to it. If the URL must not be called, returns what is wrong with it
   * instead.
   */
  const routeTo = (text: string) => {
    const url = text.length > WEBHOOK_URL_LENGTH_MAX ? null : URL.parse(text)
    if (url === null || !['https:', 'http:'].includes(url.protocol)) return 'url' as const
    if (url.username !== '' || url.password !== '' || url.hash !== '') return 'url' as const
    const route = url.protocol === 'https:' && PORTS.has(url.port) ? routes.open : routes.inside
    if (route === routes.inside && privateNetworks.length === 0) return 'url' as const
    try {
      route.guard.checkLiteral(url.hostname)
    } catch {
      return 'address' as const
    }
    return { url, agents: route.agents }
  }
  return {
    check(text) {
      const route = routeTo(text)
      return typeof route === 'string' ? route : null
    },
    async post(text, headers, body) {
      const route = routeTo(text)
      if (typeof route === 'string') return { fault: route }
      const signal = AbortSignal.timeout(timeoutMs)
      const agent = route.agents.open()
      try {
        const answer = await request(route.url, {
          dispatcher: agent,
          method: 'POST',
          headers,
          body,
          signal,
          onInfo: fewInterim(),
          headersTimeout: timeoutMs,
        })
        // Discards the body. Without a listener, the error that this raises on the body would end the process.
        answer.body.on('error', () => {}).destroy()
        const retryAfter = answer.headers['retry-after']
        return { status: answer.statusCode, retryAfter: typeof retryAfter === 'string' ? retryAfter : null }
      } catch (error) {
        return { fault: signal.aborted ? 'timeout' : faultOf(error) }
      } finally {
        void route.agents.close(agent)
      }
    },
    async close() {
      await Promise.all(Object.values(routes).map(({ agents }) => agents.closeAll()))
    },
  }
}

function createRoute(
  isAllowed: (address: string) => boolean,
  { timeoutMs, resolve }: { readonly timeoutMs: number; readonly resolve: Resolve },
) {
  const guard = new AddressGuard({
    isAllowed,
    resolve,
    refusal: () => new ForbiddenAddress('the address is not public'),
  })
  const agents = new OwnAgents({ lookup: guard.lookup, timeoutMs, headerBytesMax: ANSWER_HEADER_BYTES_MAX })
  return { guard, agents }
}

/**
 * Returns a test for addresses in these networks. Throws an Error for invalid CIDR notation, which the configuration reader has
 * already refused.
 */
function inNetworks(networks: readonly string[]): (address: string) => boolean {
  const ranges = networks.map(network => ipaddr.parseCIDR(network))
  return address => {
    if (!ipaddr.isValid(address)) return false
    const parsed = ipaddr.parse(address)
    return ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits))
  }
}

function faultOf(error: unknown): WebhookFault {
  for (let depth = 0, at = error; at instanceof Error && depth < 4; depth++, at = at.cause) {
    const inner = at instanceof AggregateError ? at.errors : []
    if ([at, ...inner].some(each => each instanceof ForbiddenAddress)) return 'address'
    const code = String((at as NodeJS.ErrnoException).code ?? '')
    if (/TIMEOUT|TIMEDOUT/.test(code)) return 'timeout'
    if (/CERT|^ERR_TLS|SELF_SIGNED|^ERR_SSL|UNABLE_TO_/.test(code)) return 'certificate'
  }
  return 'connection'
}
