/** Runs HAProxy on a host of its own, with the configuration in deploy/. */

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Host, startChild } from '../fault/support/child.ts'
import { eventually } from '../fault/support/wait.ts'

const CONFIGURATION = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url))

export interface Balancer {
  readonly url: string
  /** The balancer's self-signed certificate. */
  readonly certificate: string
  stop(): Promise<void>
}

export async function startBalancer(given: {
  host: Host
  folder: string
  gateways: readonly [string, string]
}): Promise<Balancer> {
  const { host, folder, gateways } = given
  const [keyFile, certificateFile, both] = ['key.pem', 'certificate.pem', 'both.pem'].map(name =>
    join(folder, name),
  ) as [string, string, string]
  const names = ['-subj', '/CN=balancer', '-addext', `subjectAltName=IP:${host.address}`]
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2']
  execFileSync('openssl', [...request, ...names, '-keyout', keyFile, '-out', certificateFile], { stdio: 'pipe' })
  const certificate = readFileSync(certificateFile, 'utf8')
  writeFileSync(both, certificate + readFileSync(keyFile, 'utf8'), { mode: 0o600 })
  const env = { PATH: process.env.PATH, GATEWAY_1: gateways[0], GATEWAY_2: gateways[1], CERTIFICATE: both }
  execFileSync('haproxy', ['-c', '-f', CONFIGURATION], { env, stdio: 'pipe' })
  const logFile = join(folder, 'balancer.log')
  const child = startChild({ file: 'haproxy', args: ['-db', '-f', CONFIGURATION], env, logFile, host })
  const listens = () => connectTo(443, host.address)
  await eventually(listens, Boolean, { timeoutMs: 10_000 }).catch(error => {
    throw new Error(`HAProxy is not listening: ${readFileSync(logFile, 'utf8')}`, { cause: error })
  })
  return {
    url: `https://${host.address}`,
    certificate,
    async stop() {
      child.signal('SIGKILL')
      await child.exit
    },
  }
}

function connectTo(port: number, host: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect({ port, host, timeout: 1_000 })
    const end = (connected: boolean) => {
      socket.destroy()
      resolve(connected)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })
}
