/** The gateway as it runs in production, with keys, holds, durable settlements and the log. */

import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { environmentConfig } from '../../src/app/foundation.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { createLog } from '../../src/lib/log.ts'
import { parseSecretSet } from '../../src/lib/secrets.ts'
import { serveBench } from './serve-process.ts'

const SAMPLING_INTERVAL_US = 500

const { env } = process
const config = environmentConfig(env)
const gateway = await startGateway({
  config,
  databaseUrl: env.DATABASE_URL as string,
  keySecrets: {
    service: TABLES.settings.service,
    peppers: parseSecretSet('KEY_PEPPERS', env.KEY_PEPPERS as string),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', env.KEY_ENCRYPTION_KEYS as string),
  },
  sandboxUrl: null,
  log: createLog(config.logLevel),
  instanceName: 'bench',
})

const session = new Session()

/** Starts a CPU profile if `profileFile` is null; otherwise stops it and writes it to that file. */
async function profile({ profileFile }: { readonly profileFile: string | null }): Promise<void> {
  if (profileFile === null) {
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: SAMPLING_INTERVAL_US })
    await session.post('Profiler.start')
    return
  }
  const { profile } = await session.post('Profiler.stop')
  writeFileSync(profileFile, JSON.stringify(profile))
  session.disconnect()
}

serveBench({
  url: gateway.url,
  onMessage: message => profile(message as { profileFile: string | null }),
  stop: () => gateway.stop(),
})
