/**
 * Start-up notes for operators outside production: which parts are simulated, which are real, and whether the network can reach
 * them.
 */

import { isIPv4 } from 'node:net'
import type { Config } from './config.ts'

export interface Remark {
  readonly facts: Readonly<Record<string, unknown>>
  readonly message: string
}

type Facts = Pick<Config, 'production' | 'real' | 'host' | 'sandbox' | 'bank' | 'providers' | 'mail'>

export function remarksOf(
  config: Facts,
  upstreams: { readonly all: readonly string[]; readonly sandboxed: readonly string[] },
): readonly Remark[] {
  if (config.production) return []
  const remarks: Remark[] = []
  if (!isLoopback(config.host)) {
    remarks.push({
      facts: { host: config.host },
      message:
        'this address is open to the network although this is not production: set NODE_ENV=production, or HOST=127.0.0.1',
    })
  }
  if (config.real && config.sandbox === 'auto') remarks.push(mixture(config, upstreams))
  return remarks
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'))
}

function mixture(
  { bank, providers, mail }: Facts,
  { all, sandboxed }: { readonly all: readonly string[]; readonly sandboxed: readonly string[] },
): Remark {
  const services = Object.entries(providers).flatMap(([name, secret]) => (secret === null ? [] : [name]))
  const real = [
    ...all.filter(id => !sandboxed.includes(id)),
    ...(bank === null ? [] : ['bank account']),
    ...services,
    ...(mail.smtpUrl === null ? [] : ['mail']),
  ]
  return {
    facts: { real, simulated: sandboxed },
    message:
      'real credentials are mixed with the sandbox: everything listed as real costs or moves money, all other replies are simulated; ' +
      'simulated transfers and the page with emails are off',
  }
}
