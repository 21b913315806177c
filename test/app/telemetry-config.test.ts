/** Reads the environment variables for metrics and traces; invalid values are all reported at once. */

import { expect, test } from 'vitest'
import { ConfigError, readConfig } from '../../src/app/config.ts'

const read = (environment: Record<string, string>) => readConfig({ environment, upstreamIds: [] })

function faultsOf(environment: Record<string, string>): readonly string[] {
  try {
    read(environment)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.faults
    throw error
  }
}

test('metrics and traces are off by default', () => {
  expect([read({}).metrics, read({}).traces]).toEqual([null, null])
  expect(read({ METRICS_HOST: '0.0.0.0' }).metrics).toBe(null)
  expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }).traces).toBe(null)
})

test('metrics listen on this machine only, unless set otherwise', () => {
  expect(read({ METRICS_PORT: '9464' }).metrics).toEqual({
    host: '127.0.0.1',
    port: 9464,
    auditMinutes: 360,
    auditFullMinutes: 1_440,
  })
  expect(
    read({ METRICS_PORT: '9464', METRICS_HOST: '::', METRICS_AUDIT_MINUTES: '0', METRICS_AUDIT_FULL_MINUTES: '0' })
      .metrics,
  ).toEqual({
    host: '::',
    port: 9464,
    auditMinutes: 0,
    auditFullMinutes: 0,
  })
})

test('traces use OpenTelemetry’s own variables', () => {
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/base/',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-tenant = one ',
    OTEL_SERVICE_NAME: 'billing-gateway',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=production',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
  }
  expect(read(environment).traces).toEqual({
    url: 'https://collector.example.com/base/v1/traces',
    headers: { authorization: 'Basic YTpi', 'x-tenant': 'one' },
    serviceName: 'billing-gateway',
    attributes: { 'deployment.environment.name': 'production' },
    ratio: 0.25,
  })
  const own = { ...environment, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://other/spans' }
  expect(read(own).traces?.url).toBe('http://other/spans')
})

test('names all faults at once, and repeats no secret', () => {
  const faults = faultsOf({
    PORT: '8080',
    METRICS_PORT: '8080',
    METRICS_AUDIT_MINUTES: 'often',
    METRICS_ADDRESS: '0.0.0.0',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'secret%zz',
    OTEL_TRACES_SAMPLER_ARG: '2',
  })
  expect(faults).toEqual([
    'METRICS_ADDRESS is not read by this gateway; it reads METRICS_PORT, METRICS_HOST, METRICS_AUDIT_MINUTES, METRICS_AUDIT_FULL_MINUTES',
    'METRICS_AUDIT_MINUTES is "often"; write a whole number from 0 to 10080',
    'METRICS_PORT equals PORT; give the metrics their own port, closed to the public',
    'OTEL_EXPORTER_OTLP_HEADERS is not a list of pairs; write e.g. name=value,other=value',
    'OTEL_TRACES_SAMPLER_ARG is "2"; write a fraction from 0 to 1, such as 0.1',
    'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; this gateway supports only http/json',
  ])
})
