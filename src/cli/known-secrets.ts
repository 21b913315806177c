/** Keeps commands from storing keys under a secret that a running gateway does not know. */

import type { KnownSecrets } from '../accounts/key-secret.ts'
import type { Foundation } from '../app/foundation.ts'
import { readProcessStatus } from '../operations/process-status.ts'
import { UsageError } from './arguments.ts'

/** Throws UsageError if a running gateway lacks a current secret: it would refuse all keys that are stored under it. */
export async function requireKnownSecrets({ sql, secrets }: Pick<Foundation, 'sql' | 'secrets'>): Promise<void> {
  const { peppers, encryption } = secrets
  for (const { name, status } of await readProcessStatus<{ readonly secrets?: KnownSecrets }>(sql)) {
    // Processes of the previous version do not say which secrets they know.
    if (status.secrets === undefined) continue
    const lacking = [
      ...(status.secrets.peppers.includes(peppers.currentId) ? [] : [`KEY_PEPPERS ${peppers.currentId}`]),
      ...(status.secrets.encryption.includes(encryption.currentId)
        ? []
        : [`KEY_ENCRYPTION_KEYS ${encryption.currentId}`]),
    ]
    if (lacking.length === 0) continue
    throw new UsageError(
      `The gateway ${name} does not know ${lacking.join(' and ')} and would refuse keys stored under it. First restart every gateway with the new secret on standby; see "Rotate the secrets of keys" in docs/operations.md`,
    )
  }
}
