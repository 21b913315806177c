/** The Postgres manifests are valid for their Kubernetes operator and give the guarantees in docs/scale.md. */

import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const schemas = JSON.parse(read('cloudnative-pg.json')) as Readonly<Record<string, object>>
const manifests = parseAllDocuments(read('../../deploy/kubernetes/postgres.yaml')).map(document => document.toJS())
const ajv = new Ajv({ strict: false, allErrors: true })

function faultsOf(kind: string, spec: object): string[] {
  const validate = ajv.compile(schemas[kind] as object)
  validate(spec)
  return (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${params.additionalProperty ?? ''}`.trim(),
  )
}

test.each(manifests.map(({ kind, spec }) => [kind, spec] as const))(
  '%s has only fields that the operator knows',
  (kind, spec) => {
    expect(faultsOf(kind, spec)).toEqual([])
  },
)

test('a mistyped field, a wrong type and a missing field are detected', () => {
  const { spec } = manifests.find(({ kind }) => kind === 'Cluster')
  const { instances: _, ...without } = { ...spec, instance: 3, switchoverDelay: '60s' }
  expect(faultsOf('Cluster', without)).toEqual([
    "must have required property 'instances'",
    'must NOT have additional properties instance',
    '/switchoverDelay must be integer',
  ])
})

test('a settlement is stored on two machines before it is acknowledged, and the write-ahead log is archived', () => {
  const cluster = manifests.find(({ kind }) => kind === 'Cluster')
  const { instances, postgresql, plugins, affinity } = cluster.spec
  expect(instances).toBeGreaterThanOrEqual(3)
  expect(postgresql.synchronous).toEqual({ method: 'any', number: 1, dataDurability: 'required' })
  expect(affinity).toMatchObject({ enablePodAntiAffinity: true, podAntiAffinityType: 'required' })
  expect(plugins).toMatchObject([{ isWALArchiver: true, parameters: { barmanObjectName: 'postgres-archive' } }])
  expect(manifests.map(({ kind, metadata }) => `${kind} ${metadata.namespace}/${metadata.name}`)).toEqual([
    'Cluster gateway/postgres',
    'ObjectStore gateway/postgres-archive',
    'ScheduledBackup gateway/postgres-nightly',
  ])
})
