/** Prints what a developer needs after startup: a working API key, a command to paste and the URLs of the pages. */

import { join } from 'node:path'
import { createAccount, findAccountByEmail } from '../accounts/accounts.ts'
import { candidateHashes } from '../accounts/key-secret.ts'
import { type ApiKey, createKey, listKeys, revokeKey, showKey } from '../accounts/keys.ts'
import { catalogue } from '../catalogue/current.ts'
import { modelsOf } from '../catalogue/models.ts'
import { TABLES } from '../generated/tables.ts'
import { credit } from '../ledger/credit.ts'
import type { Logger } from '../lib/log.ts'
import { vndToMicro } from '../lib/money.ts'
import type { Foundation } from './foundation.ts'
import { remarksOf } from './surroundings.ts'

const DEVELOPER = 'developer@example.com'
const WELCOME_CREDIT_VND = 1_000_000

/** The development account's key: created at the first start, shown again at later ones. */
async function developerKey(foundation: Foundation): Promise<string> {
  const { sql, secrets } = foundation
  const find = () => findAccountByEmail(sql, DEVELOPER)
  const account =
    (await find()) ??
    // Another process starting right now may create it first.
    (await createAccount(sql, DEVELOPER).catch(async error => {
      const found = await find()
      if (found === null) throw error
      return found
    }))
  const { accountId } = account
  await credit(sql, {
    accountId,
    amountMicroVnd: vndToMicro(WELCOME_CREDIT_VND),
    kind: 'adjustment',
    reference: 'welcome',
    note: 'development account',
  })
  for (const row of await listKeys(sql, accountId)) {
    if (!row.showable) continue
    const key = await usableKey(foundation, row)
    if (key !== null) return key
    // The key was created under secrets that no longer exist, so nobody can use it.
    await revokeKey(sql, row)
  }
  return (await createKey(sql, secrets, { accountId, label: 'development' })).key
}

/** The key itself, if the current secrets decrypt its stored copy and match its hash; else null. */
async function usableKey({ sql, secrets }: Foundation, row: ApiKey): Promise<string | null> {
  const revealed = await showKey(sql, secrets, row).catch(() => null)
  if (revealed?.outcome !== 'revealed') return null
  const hashes = candidateHashes(secrets, revealed.key).map(hash => Buffer.from(hash).toString('hex'))
  const [stored] = await sql`select encode(key_hash, 'hex') as hash from api_key where key_id = ${row.keyId}`
  return hashes.includes(String(stored?.hash)) ? revealed.key : null
}

function mailHint({ dataDir, mail, real }: Foundation['config'], url: string): string[] {
  const operator = `"npm run -s gateway -- account operator ${DEVELOPER} on" opens ${url}/operator`
  if (mail.smtpUrl !== null) return [`           ${operator}`]
  return [`           Mail lands in ${real ? join(dataDir, 'outbox') : `${url}/development/outbox`}; ${operator}`]
}

/** Text for the terminal; contains an API key, so it is never logged. */
async function welcome(
  foundation: Foundation,
  { url, sandboxed: simulated }: { readonly url: string; readonly sandboxed: readonly string[] },
): Promise<string> {
  const key = await developerKey(foundation)
  const { settings } = catalogue
  const body = JSON.stringify({
    model: settings.fallback,
    max_tokens: 200,
    messages: [{ role: 'user', content: 'Say hello in Vietnamese.' }],
  })
  return [
    '',
    `The gateway serves ${modelsOf(catalogue).length} models under ${catalogue.items.length} names on ${url}`,
    ...(simulated.length === 0
      ? []
      : [`Replies are simulated for upstreams without credentials: ${simulated.join(', ')}`]),
    '',
    `API key    ${key}`,
    '',
    'First call',
    `  curl -s ${url}/v1/messages -H 'x-api-key: ${key}' -H 'content-type: application/json' -d '${body}'`,
    '',
    'SDKs       change the base URL and the key, nothing else:',
    `             messages style           ${url}`,
    `             chat completions style   ${url}/v1`,
    `Prices     curl -s ${url}/v1/models -H 'x-api-key: ${key}'`,
    `Pages      ${url} in a browser; register as ${DEVELOPER} for this key's account.`,
    ...mailHint(foundation.config, url),
    'Read on    README.md; Ctrl-C stops everything',
    '',
  ].join('\n')
}

/** Prints the welcome text, outside production only. The gateway already takes calls, so a failure here must not end it. */
export async function greet(
  foundation: Foundation,
  start: {
    readonly url: string
    readonly sandboxed: readonly string[]
    readonly write: (text: string) => void
    readonly log: Logger
  },
): Promise<void> {
  const { config } = foundation
  if (config.production) return
  const { sandboxed, write, log } = start
  const all = TABLES.upstreams.map(({ id }) => id)
  for (const { facts, message } of remarksOf(config, { all, sandboxed })) log.warn(facts, message)
  try {
    write(await welcome(foundation, start))
  } catch (cause) {
    log.warn({ cause }, 'could not create a key for a first call: check the database, then run account create EMAIL')
  }
}
