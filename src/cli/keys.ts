/** CLI commands for API keys: list, change settings, pause, rotate. */

import { ALLOWED_MODELS_MAX, changeKey, KEY_CAP_VND_MAX, type KeySettings, pauseKey } from '../accounts/key-settings.ts'
import { lockKeys } from '../accounts/keys.ts'
import { listOwnKeys, type OwnKey, readOwnKey } from '../accounts/own-keys.ts'
import { OVERLAP_HOURS_MAX, replaceSecret } from '../accounts/replace-secret.ts'
import type { Foundation } from '../app/foundation.ts'
import { familiesOf, readAllowed } from '../catalogue/allowed.ts'
import { catalogue } from '../catalogue/current.ts'
import { addDays, dayOf, isDay, startOfDay } from '../ledger/reports/days.ts'
import type { AnySql } from '../lib/database.ts'
import { formatVnd, MICRO_PER_VND } from '../lib/money.ts'
import type { Period } from '../lib/period.ts'
import { noActiveKey, readCount, readVnd, UsageError } from './arguments.ts'
import { type Action, accountOf, readKeyId } from './commands.ts'
import { requireKnownSecrets } from './known-secrets.ts'

const PER = { day: 'daily', week: 'weekly', month: 'monthly', ever: null } as const satisfies Record<
  string,
  Period | null
>

/** State, spending limit, expiry and allowed models of a key, as `--json` prints them. */
function standingOf(key: OwnKey) {
  return {
    state: key.state,
    limit_vnd: key.limitMicroVnd === null ? null : formatVnd(key.limitMicroVnd),
    limit_reset: key.limitMicroVnd === null ? null : key.limitReset,
    spent_vnd: formatVnd(key.spentMicroVnd),
    expires_at: key.expiresAt?.toISOString() ?? null,
    allowed_models: key.allowedModels,
  }
}

function stateText(key: OwnKey): string {
  if (key.revokedAt !== null) return `revoked ${key.revokedAt.toISOString()}`
  const isSpent = key.state === 'active' && key.limitMicroVnd !== null && key.spentMicroVnd >= key.limitMicroVnd
  return isSpent ? 'limit reached' : key.state
}

function capText({ limitMicroVnd, limitReset }: OwnKey): string | null {
  return limitMicroVnd === null ? null : `${limitReset ?? 'total'} limit of ${formatVnd(limitMicroVnd)} VND`
}

/** The last day on which the key works, in Vietnam time. */
function lastDayOf({ expiresAt }: OwnKey): string | null {
  return expiresAt === null ? null : dayOf(new Date(expiresAt.getTime() - 1))
}

/** The key's own limits in brackets; '' if it has none. */
function limitsText(key: OwnKey): string {
  const cap = capText(key)
  const calls = (limit: number | null, what: string) =>
    limit !== null && `${limit === 0 ? 'no limit of' : limit} ${what}`
  const limits = [
    cap !== null && `${cap}, ${formatVnd(key.spentMicroVnd)} spent`,
    key.allowedModels !== null && `only ${key.allowedModels.join(', ')}`,
    key.expiresAt !== null && `until ${lastDayOf(key)}`,
    calls(key.rateLimitPerMinute, 'calls per minute'),
    calls(key.concurrencyMax, 'calls in flight'),
  ].filter(limit => limit !== false)
  return limits.length === 0 ? '' : `  (${limits.join('; ')})`
}

const keyList: Action = async (foundation, { words }) => {
  const { accountId } = await accountOf(foundation, words[0] as string)
  const keys = (await listOwnKeys(foundation.sql, accountId)).toSorted((one, other) => one.keyId - other.keyId)
  const data = keys.map(key => ({
    key_id: key.keyId,
    label: key.label,
    last4: key.last4,
    created_at: key.createdAt.toISOString(),
    revoked_at: key.revokedAt?.toISOString() ?? null,
    rate_limit_per_minute: key.rateLimitPerMinute,
    concurrency_max: key.concurrencyMax,
    ...standingOf(key),
  }))
  const rows = keys.map(key => `${key.keyId}  …${key.last4}  ${stateText(key)}  ${key.label}${limitsText(key)}`)
  return { data, text: rows.length === 0 ? 'No keys.' : rows.join('\n') }
}

interface Named {
  readonly accountId: number
  readonly keyId: number
  readonly email: string
}

async function keyNamed(foundation: Foundation, [email, number]: readonly string[]): Promise<Named> {
  const keyId = readKeyId(number as string, email as string)
  const { accountId } = await accountOf(foundation, email as string)
  return { accountId, keyId, email: email as string }
}

/** Finds a key of the account. Throws UsageError if it is revoked or belongs to another account. */
async function activeKey(sql: AnySql, { accountId, keyId, email }: Named): Promise<OwnKey> {
  const key = await readOwnKey(sql, { accountId, keyId })
  if (key === null || key.revokedAt !== null) throw noActiveKey(email, keyId)
  return key
}

const keySet: Action = async (foundation, { words, options }) => {
  const named = await keyNamed(foundation, words)
  const wanted = {
    ...(options.label !== undefined && { label: options.label }),
    ...(options.limit !== undefined && { limitVnd: readLimit(options.limit) }),
    ...(options.per !== undefined && { limitReset: readPeriod(options.per) }),
    ...(options.expires !== undefined && { expiresAt: readExpiry(options.expires) }),
    ...(options.models !== undefined && { allowedModels: readModels(options.models) }),
  } satisfies Partial<KeySettings>
  const now = await foundation.sql.begin(async transaction => {
    await lockKeys(transaction, named.accountId)
    const key = await activeKey(transaction, named)
    await changeKey(transaction, key, { ...settingsOf(key), ...wanted })
    return activeKey(transaction, named)
  })
  const cap = capText(now)
  const limit = cap === null ? 'no limit' : `a ${cap}`
  const models = now.allowedModels?.join(', ') ?? 'all models'
  const lastDay = lastDayOf(now)
  const expiry = lastDay === null ? 'does not expire' : `works until the end of ${lastDay} in Vietnam`
  return {
    data: { key_id: now.keyId, label: now.label, ...standingOf(now) },
    text: `Key ${now.keyId} has ${limit}, calls ${models} and ${expiry}.`,
  }
}

/** A key's current settings. Limits that an operator has set are null, because the owner cannot change them. */
function settingsOf(key: OwnKey): KeySettings {
  const { label, limitMicroVnd, limitReset, expiresAt, allowedModels } = key
  return {
    label,
    limitVnd: limitMicroVnd === null ? null : Number(limitMicroVnd / MICRO_PER_VND),
    limitReset,
    expiresAt,
    allowedModels,
    callsPerMinute: key.rateHeld ? null : key.rateLimitPerMinute,
    callsInFlight: key.concurrencyHeld ? null : key.concurrencyMax,
  }
}

function readLimit(text: string): number | null {
  if (text === 'none') return null
  const vnd = readVnd(text)
  if (vnd >= 1 && vnd <= KEY_CAP_VND_MAX) return vnd
  throw new UsageError(`--limit takes "none" or a whole number of dong from 1 to ${KEY_CAP_VND_MAX}`)
}

function readPeriod(text: string): Period | null {
  if (!Object.hasOwn(PER, text)) throw new UsageError(`--per takes one of ${Object.keys(PER).join(', ')}`)
  return PER[text as keyof typeof PER]
}

/** The end of the last day on which the key works, in Vietnam time; null for `never`. */
function readExpiry(text: string): Date | null {
  if (text === 'never') return null
  if (isDay(text) && text >= dayOf(new Date())) return startOfDay(addDays(text, 1))
  throw new UsageError(
    `${JSON.stringify(text)} is not today or a later day; --expires takes never, or the last day on which the key works, such as 2027-12-31`,
  )
}

function readModels(text: string): readonly string[] | null {
  if (text === 'all') return null
  const { allowed, unknown } = readAllowed(
    catalogue,
    text.split(',').map(name => name.trim()),
  )
  if (unknown.length > 0) {
    throw new UsageError(
      `${JSON.stringify(unknown[0])} is neither a model nor a family; write ids of the price list, or family/* with a family such as ${familiesOf(catalogue)[0]}`,
    )
  }
  if (allowed.length > ALLOWED_MODELS_MAX) throw new UsageError(`--models takes at most ${ALLOWED_MODELS_MAX} models`)
  return allowed
}

const pausing =
  (paused: boolean): Action =>
  async (foundation, { words }) => {
    const named = await keyNamed(foundation, words)
    await activeKey(foundation.sql, named)
    await pauseKey(foundation.sql, named, paused)
    const { state } = await activeKey(foundation.sql, named)
    return {
      data: { key_id: named.keyId, state },
      text: paused ? `Key ${named.keyId} is paused: its next call is refused.` : `Key ${named.keyId} is ${state}.`,
    }
  }

const keyRotate: Action = async (foundation, { words, options }) => {
  const named = await keyNamed(foundation, words)
  const overlapHours = readCount(options.overlap ?? '0', 'a number of hours', { min: 0, max: OVERLAP_HOURS_MAX })
  await requireKnownSecrets(foundation)
  const { rotations } = await activeKey(foundation.sql, named)
  const replaced = await replaceSecret(foundation.sql, foundation.secrets, { ...named, rotations, overlapHours })
  if (replaced.outcome !== 'replaced')
    throw new UsageError(`Key ${named.keyId} was changed meanwhile; check it and try again`)
  const { key, oldUntil } = replaced
  const until = oldUntil === null ? 'no longer works' : `works until ${oldUntil.toISOString()}`
  return {
    data: { key_id: named.keyId, api_key: key, old_until: oldUntil?.toISOString() ?? null },
    text: `API key  ${key}\nThe old one ${until}.`,
  }
}

export const KEY_ACTIONS: Readonly<Record<string, Action>> = {
  'key list': keyList,
  'key set': keySet,
  'key disable': pausing(true),
  'key enable': pausing(false),
  'key rotate': keyRotate,
}
