/** CLI commands for the secrets that protect stored API keys: the peppers that hash them and the keys that encrypt them. */

import { trustSecrets } from '../accounts/fingerprints.ts'
import { readSecretsInUse, rotateKeys } from '../accounts/rotate.ts'
import { countSealedWebhookSecrets, rotateWebhookSecrets } from '../alerts/webhook-secrets.ts'
import type { Foundation } from '../app/foundation.ts'
import type { SecretSet } from '../lib/secrets.ts'
import { announce } from '../operations/channel.ts'
import { readProcessStatus } from '../operations/process-status.ts'
import { UsageError } from './arguments.ts'
import type { Action } from './commands.ts'
import { requireKnownSecrets } from './known-secrets.ts'

interface SecretUse {
  readonly id: number
  readonly state: 'current' | 'readable' | 'standby' | 'missing' | 'wrong'
  /** How many active API keys need this secret; for encryption keys, also authenticators and webhooks. */
  readonly keys: number
}

function useOf(
  set: SecretSet,
  { inUse, wrong }: { inUse: ReadonlyMap<number, number>; wrong: ReadonlySet<number> },
): readonly SecretUse[] {
  const ids = [...new Set([...set.secrets.keys(), ...inUse.keys()])].sort((a, b) => a - b)
  return ids.map(id => ({ id, state: wrong.has(id) ? 'wrong' : stateOf(set, id), keys: inUse.get(id) ?? 0 }))
}

function stateOf(set: SecretSet, id: number): Exclude<SecretUse['state'], 'wrong'> {
  if (!set.secrets.has(id)) return 'missing'
  if (id === set.currentId) return 'current'
  return id > set.currentId ? 'standby' : 'readable'
}

const MEANING: Readonly<Record<SecretUse['state'], string>> = {
  current: 'in force',
  readable: 'still read',
  standby: 'on standby',
  missing: 'NOT CONFIGURED: its keys do not work',
  wrong: 'WRONG SECRET: a key stored under it cannot be decrypted',
}

function describe(variable: string, users: string, uses: readonly SecretUse[]): readonly string[] {
  return uses.map(({ id, state, keys }) => {
    const removable = state === 'readable' && keys === 0 ? '; may be removed' : ''
    return `${variable} ${id}: ${MEANING[state]}, ${keys} ${users}${removable}`
  })
}

async function report({ sql, secrets }: Foundation) {
  const inUse = await readSecretsInUse(sql, secrets)
  const sealed = new Map(inUse.encryption)
  for (const [id, count] of await countSealedWebhookSecrets(sql)) sealed.set(id, (sealed.get(id) ?? 0) + count)
  const peppers = useOf(secrets.peppers, { inUse: inUse.peppers, wrong: inUse.wrong.peppers })
  const encryption = useOf(secrets.encryption, { inUse: sealed, wrong: inUse.wrong.encryption })
  const lines = [
    ...describe('KEY_PEPPERS', 'active keys', peppers),
    ...describe('KEY_ENCRYPTION_KEYS', 'active keys, authenticators and webhooks', encryption),
  ]
  if (inUse.withoutCopy > 0) {
    lines.push(
      `${inUse.withoutCopy} active keys have no encrypted copy: keep their pepper until their owners replace them.`,
    )
  }
  const data = { peppers, encryption_keys: encryption, keys_without_copy: inUse.withoutCopy }
  const missing = [...peppers, ...encryption].some(({ state }) => state === 'missing' || state === 'wrong')
  return { data, lines, missing }
}

/** What is missing if active API keys need a secret that is not configured or wrong; null if all work. */
export async function secretsMissing(foundation: Foundation): Promise<string | null> {
  const { lines, missing } = await report(foundation)
  const advice = 'Set KEY_PEPPERS and KEY_ENCRYPTION_KEYS to the values of the gateways that the keys come from:'
  return missing ? [advice, ...lines].join('\n') : null
}

const secretsStatus: Action = async foundation => {
  const { data, lines, missing } = await report(foundation)
  return { data, text: lines.join('\n'), failed: missing }
}

const secretsRotate: Action = async foundation => {
  await requireKnownSecrets(foundation)
  const { rotated, unreadable, unreadableAuthenticators } = await rotateKeys(foundation.sql, foundation.secrets)
  const unreadableWebhooks = await rotateWebhookSecrets(foundation.sql, foundation.secrets.encryption)
  if (rotated > 0) await announce(foundation.sql, 'keys')
  const { data, lines, missing } = await report(foundation)
  const broken = unreadable.map(
    ({ accountId, keyId }) => `Key ${keyId} of account ${accountId} cannot be decrypted; left unchanged.`,
  )
  for (const accountId of unreadableAuthenticators) {
    broken.push(`The authenticator of account ${accountId} cannot be decrypted; run account reset-second-factor`)
  }
  for (const webhookId of unreadableWebhooks) {
    broken.push(`A secret of webhook ${webhookId} cannot be decrypted: its owner must create a new one.`)
  }
  return {
    data: {
      rotated,
      unreadable: unreadable.map(({ keyId }) => keyId),
      unreadable_authenticators: unreadableAuthenticators,
      unreadable_webhooks: unreadableWebhooks,
      ...data,
    },
    text: [`${rotated} keys moved to the current secrets.`, ...broken, ...lines].join('\n'),
    failed: missing || broken.length > 0,
  }
}

const secretsTrust: Action = async foundation => {
  const [running] = await readProcessStatus(foundation.sql)
  if (running !== undefined) {
    throw new UsageError(
      `The gateway ${running.name} is running with the secrets of this database, and could not start again without them. Use its KEY_PEPPERS and KEY_ENCRYPTION_KEYS; if nobody has them any more, stop all gateways first`,
    )
  }
  const trusted = await trustSecrets(foundation.sql, foundation.secrets)
  const { data, lines } = await report(foundation)
  const what = trusted.length === 0 ? 'Nothing to change.' : `${trusted.join(', ')}: now trusted.`
  return { data: { trusted, ...data }, text: [what, ...lines].join('\n') }
}

export const SECRETS_ACTIONS: Readonly<Record<string, Action>> = {
  'secrets status': secretsStatus,
  'secrets rotate': secretsRotate,
  'secrets trust': secretsTrust,
}
