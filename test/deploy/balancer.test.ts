/** The HAProxy configuration is valid, and fits the gateway's health probes, drain times and retry rules; the lines for nginx, too. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { environmentConfig } from '../../src/app/foundation.ts'
import { generateSecretSet } from '../../src/lib/secrets.ts'

const FILE = fileURLToPath(new URL('../../deploy/haproxy/haproxy.cfg', import.meta.url))
const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const text = read('../../deploy/haproxy/haproxy.cfg')
const missing = ['haproxy', 'openssl'].find(program => spawnSync(program, ['version']).error !== undefined)

/** Returns the duration that follows a keyword in the configuration, in ms. */
function durationMs(keyword: string): number {
  const [, number, unit] = new RegExp(`${keyword} (\\d+)(s|m)\\b`).exec(text) ?? []
  return Number(number) * (unit === 'm' ? 60_000 : 1_000)
}

test.skipIf(missing !== undefined)(
  `HAProxy accepts its configuration${missing ? ` (${missing} is missing)` : ''}`,
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'balancer-'))
    try {
      const request = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=balancer -keyout - -out -'
      const CERTIFICATE = join(folder, 'certificate.pem')
      writeFileSync(CERTIFICATE, execFileSync('openssl', request.split(' '), { stdio: 'pipe' }))
      const env = { PATH: process.env.PATH, CERTIFICATE, GATEWAY_1: '10.0.0.11:8080', GATEWAY_2: '10.0.0.12:8080' }
      const { status, stdout, stderr } = spawnSync('haproxy', ['-c', '-f', FILE], { env, encoding: 'utf8' })
      expect({ status, stdout: stdout.trim(), stderr }).toEqual({
        status: 0,
        stdout: 'Configuration file is valid',
        stderr: '',
      })
    } finally {
      rmSync(folder, { recursive: true })
    }
  },
)

test('its probes notice a stopping gateway while that still accepts calls, and its timeouts are longer than any call', () => {
  const gateway = parseEnv(read('../../deploy/gateway.env.example')) as Record<string, string>
  const filled = Object.entries(gateway).map(([name, value]) => [
    name,
    value === '1:change-me' ? generateSecretSet() : value,
  ])
  const { limits } = environmentConfig({ ...Object.fromEntries(filled), NODE_ENV: 'production' })
  const falls = Number(/ fall (\d+) /.exec(text)?.[1])
  expect(durationMs('inter') + (falls - 1) * durationMs('fastinter')).toBeLessThan(limits.drainNoticeMs - 1_000)
  for (const wait of ['timeout client', 'timeout server'])
    expect(durationMs(wait)).toBeGreaterThan(limits.drainMs + 60_000)
})

test('the lines for nginx let the largest body and the longest call through, and pass streams on at once', () => {
  const lines = /```nginx\n([\s\S]*?)```/.exec(read('../../docs/operations.md'))?.[1] as string
  const { limits } = environmentConfig({})
  expect(Number(/^client_max_body_size (\d+)m;$/m.exec(lines)?.[1]) * 2 ** 20).toBe(limits.bodyBytesMax)
  for (const wait of ['read', 'send'])
    expect(Number(new RegExp(`proxy_${wait}_timeout (\\d+)m;`).exec(lines)?.[1])).toBeGreaterThan(
      limits.drainMs / 60_000 + 1,
    )
  expect(lines).toContain('proxy_buffering off;')
  expect(lines).toContain('proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;')
})

test('it never sends a call twice, and never logs a query string', () => {
  expect(text).toMatch(/^ {2}retry-on conn-failure$/m)
  expect(text).toMatch(/^ {2}log-format "(?!.*(%HU|%HQ|%r|%\{))[^"]+ %HP"$/m)
  expect(text).not.toMatch(/httplog|http-reuse always/)
})

test('calls to a host that has vanished fail within 6 s', () => {
  const servers = [...text.matchAll(/^ {2}server .*$/gm)].map(([line]) => line)
  expect(servers).toHaveLength(4)
  // Each server sets `tcp-ut` itself, because HAProxy 2.6 does not inherit it from `default-server`.
  for (const line of servers) expect(line).toMatch(/ tcp-ut 6s$/)
  const tries = Number(/srvtcpka-cnt (\d+)/.exec(text)?.[1])
  expect(durationMs('srvtcpka-idle') + tries * durationMs('srvtcpka-intvl')).toBeLessThanOrEqual(6_000)
})
