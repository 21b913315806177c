import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseEnv } from 'node:util'
import { expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { environmentConfig } from '../../src/app/foundation.ts'
import { limitVariable } from '../../src/app/limits.ts'
import { readCommand } from '../../src/cli/arguments.ts'
import { generateSecretSet } from '../../src/lib/secrets.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8')
const CONFIGURATION = read('docs/configuration.md')

const environments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'gateway.env.example': parseEnv(read('deploy/gateway.env.example')) as Record<string, string>,
  'secret.example.yaml': parse(read('deploy/kubernetes/secret.example.yaml')).stringData,
}

test.each(Object.entries(environments))('%s starts a gateway once its secrets are filled in', (_, given) => {
  const filled = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value === '1:change-me' ? generateSecretSet() : value]),
  )
  const config = environmentConfig({ ...filled, NODE_ENV: 'production' })
  expect(config).toMatchObject({ production: true, publicUrl: 'https://api.example.com', sandbox: 'off' })
  expect(() => environmentConfig({ ...given, NODE_ENV: 'production' })).toThrow('KEY_PEPPERS')
  for (const name of Object.keys(given))
    expect(CONFIGURATION).toMatch(new RegExp(name.replace(/^UPSTREAM_.*/, 'UPSTREAM_')))
})

test('supervisors give a stopping gateway more time than it gives its calls in flight', () => {
  const { drainMs } = environmentConfig({}).limits
  const replicas = parse(read('deploy/kubernetes/statefulset.yaml'))
  const { gateway } = parse(read('deploy/compose.yaml')).services
  const unit = read('deploy/systemd/gateway.service')
  const graces = [
    replicas.spec.template.spec.terminationGracePeriodSeconds,
    Number.parseInt(gateway.stop_grace_period, 10),
    Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]),
  ]
  for (const seconds of graces) expect(seconds * 1000).toBeGreaterThan(drainMs + 15_000)
  expect(read('deploy/compose.yaml')).toContain(limitVariable('drainMs'))
})

test('systemd keeps restarting a gateway however long its database is down, and leaves workers to their supervisor', () => {
  const unit = read('deploy/systemd/gateway.service')
  expect(unit).toMatch(/^Restart=always$/m)
  expect(unit).toMatch(/^StartLimitIntervalSec=0$/m)
  expect(unit).toMatch(/^OOMPolicy=continue$/m)
  expect(unit).toMatch(/^ExecReload=kill -HUP \$MAINPID$/m)
})

test('the alert on memory fires before a replica is killed for using too much', () => {
  const [container] = parse(read('deploy/kubernetes/statefulset.yaml')).spec.template.spec.containers
  expect(container.resources.limits.memory).toBe('1Gi')
  const alertBytes = Number(
    /process_resident_memory_bytes\{[^}]*\} > (\S+)$/m.exec(read('deploy/prometheus/alerts.yaml'))?.[1],
  )
  expect(alertBytes).toBeLessThan(0.9 * 2 ** 30)
})

/** Returns the arguments of every gateway command in the manifests. */
function commands(): readonly string[][] {
  const units = readdirSync(join(ROOT, 'deploy/systemd')).filter(name => name.endsWith('.service'))
  const ofUnits = units.map(name =>
    /^ExecStart=\S+ (?:--\S+ )*src\/start\.js (.+)$/m.exec(read(`deploy/systemd/${name}`))![1]!.split(' '),
  )
  const job = parse(read('deploy/kubernetes/retire.yaml')).spec.jobTemplate.spec.template.spec.containers[0]
  return [...ofUnits, job.args]
}

test('every command that a unit or a job runs exists on the command line', () => {
  expect(
    commands()
      .map(words => readCommand(words)?.spec.name)
      .sort(),
  ).toEqual(['audit', 'serve', 'usage retire', 'usage retire'])
})

test('the commands that operators are shown for containers and units fit these', () => {
  const shown = /## Run commands[\s\S]*?```sh\n([\s\S]*?)```/.exec(read('docs/operations.md'))?.[1] as string
  const [compose, cluster, unit] = shown.replaceAll(' \\\n', ' ').trim().split('\n') as [string, string, string]
  for (const line of [compose, cluster, unit]) {
    expect(readCommand(line.split('src/start.js ')[1]?.split(' ') ?? [])?.spec.name).toBe('audit')
  }
  expect(Object.keys(parse(read('deploy/compose.yaml')).services)).toContain(/exec (\S+)/.exec(compose)?.[1])
  const set = parseAllDocuments(read('deploy/kubernetes/statefulset.yaml')).map(document => document.toJS())[0]
  expect(cluster).toContain(
    `-n ${parse(read('deploy/kubernetes/kustomization.yaml')).namespace} exec ${set.metadata.name}-0 `,
  )
  const service = read('deploy/systemd/gateway.service')
  for (const [, property] of unit.matchAll(/-p (\S+)/g)) expect(service.split('\n')).toContain(property)
  expect(service).toContain(`Environment=${[...unit.matchAll(/-E (\S+)/g)].map(([, value]) => value).join(' ')}\n`)
})

test('the filled-in copies of the examples, which have the secrets, are kept out of version control', () => {
  const ignored = read('.gitignore').split('\n')
  const [, environment] = /^# +cp \S+ (\S+)/m.exec(read('deploy/compose.yaml')) as RegExpExecArray
  const [, secret] = /^# Copy to (\S+),/m.exec(read('deploy/kubernetes/secret.example.yaml')) as RegExpExecArray
  expect(ignored).toEqual(expect.arrayContaining([environment, `deploy/kubernetes/${secret}`]))
})

test('nothing runs as root, can gain privileges or can write outside its data', () => {
  const manifests = readdirSync(join(ROOT, 'deploy/kubernetes')).flatMap(name =>
    parseAllDocuments(read(`deploy/kubernetes/${name}`)).map(document => document.toJS()),
  )
  const pods = manifests.flatMap(({ kind, spec }) =>
    kind === 'StatefulSet' ? [spec.template.spec] : kind === 'CronJob' ? [spec.jobTemplate.spec.template.spec] : [],
  )
  expect(pods).toHaveLength(2)
  for (const { securityContext, containers, automountServiceAccountToken } of pods) {
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    expect(automountServiceAccountToken).toBe(false)
    for (const container of containers) {
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
    }
  }
  const { gateway } = parse(read('deploy/compose.yaml')).services
  expect(gateway).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] })
  expect(read('deploy/Dockerfile')).toMatch(/^USER 1000:1000$/m)
})

test('the image has the Node version that the project pins', () => {
  const pinned = JSON.parse(read('package.json')).dependencies.node
  const bases = [...read('deploy/Dockerfile').matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version)
  expect(bases).toEqual([pinned, pinned])
})
