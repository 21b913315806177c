/** The gateway itself, as it runs in production: keys, holds, durable settlements, the log. */

import { environmentConfig } from '../../src/app/foundation.ts'
import { startGateway } from '../../src/app/gateway.ts'
import { TABLES } from '../../src/generated/tables.ts'
import { createLog } from '../../src/lib/log.ts'
import { generateSecretSet, parseSecretSet } from '../../src/lib/secrets.ts'
import { serveRole } from './role.ts'

const { env } = process
const config = environmentConfig(env)
const gateway = await startGateway({
  config,
  databaseUrl: env.DATABASE_URL as string,
  keySecrets: {
    service: TABLES.settings.service,
    peppers: parseSecretSet('KEY_PEPPERS', env.KEY_PEPPERS as string),
    encryption: parseSecretSet('KEY_ENCRYPTION_KEYS', generateSecretSet()),
  },
  sandboxUrl: null,
  log: createLog(config.logLevel),
  instanceName: env.INSTANCE ?? 'bench',
})
serveRole({ url: gateway.url, stop: () => gateway.stop() })
