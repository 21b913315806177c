/** Environment settings for providers: credentials, and addresses that differ from the catalogue's. */

import type { AwsEnvironment, UpstreamEnvironment } from '../upstream/registry.ts'
import { ConfigError, Reader } from './reader.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface UpstreamsConfig {
  readonly upstreams: ReadonlyMap<string, UpstreamEnvironment>
  /** AWS access keys and region, under the names that AWS's own tools use. */
  readonly aws: AwsEnvironment
}

/** Reads only the provider settings. Throws ConfigError. */
export function readUpstreamsConfig(environment: Environment, upstreamIds: readonly string[]): UpstreamsConfig {
  const reader = new Reader(environment)
  const config = readUpstreams(reader, environment, upstreamIds)
  if (reader.faults.length > 0) throw new ConfigError(reader.faults)
  return config
}

/** Reads the provider settings and collects faults in `reader`. */
export function readUpstreams(
  reader: Reader,
  environment: Environment,
  upstreamIds: readonly string[],
): UpstreamsConfig {
  const upstreams = new Map(
    upstreamIds.map(id => [
      id,
      {
        baseUrl: reader.url(upstreamVariable(id, 'BASE_URL'), ['http:', 'https:']),
        apiKeys: (reader.text(upstreamVariable(id, 'API_KEY')) ?? '')
          .split(',')
          .map(key => key.trim())
          .filter(key => key !== ''),
      },
    ]),
  )
  const known = new Set(upstreamIds.flatMap(id => [upstreamVariable(id, 'BASE_URL'), upstreamVariable(id, 'API_KEY')]))
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('UPSTREAM_') || known.has(name)) continue
    reader.faults.push(
      `${name} belongs to no upstream in the catalogue; known variables are ${[...known].sort().join(', ')}`,
    )
  }
  return { upstreams, aws: readAws(reader) }
}

/** Name of an upstream's variable: `aws-bedrock` becomes `UPSTREAM_AWS_BEDROCK_<suffix>`. */
export function upstreamVariable(upstreamId: string, suffix: string): string {
  return `UPSTREAM_${upstreamId.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_${suffix}`
}

function readAws(reader: Reader): AwsEnvironment {
  const region = reader.text('AWS_REGION')
  if (region !== null && !/^[a-z0-9-]{1,40}$/.test(region)) {
    reader.faults.push('AWS_REGION is not a region; write e.g. us-east-1')
  }
  const [accessKeyId, secretAccessKey] = [reader.text('AWS_ACCESS_KEY_ID'), reader.text('AWS_SECRET_ACCESS_KEY')]
  if (accessKeyId !== null && secretAccessKey !== null) {
    const sessionToken = reader.text('AWS_SESSION_TOKEN')
    return { secret: { kind: 'aws', accessKeyId, secretAccessKey, sessionToken }, region }
  }
  if (accessKeyId !== null || secretAccessKey !== null) {
    reader.faults.push('AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY belong together; set both or neither')
  }
  return { secret: null, region }
}
