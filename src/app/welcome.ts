/** What a development start prints: a key that works, a call to paste, where to go next. */

import { createAccount, findAccountByEmail } from '../accounts/accounts.ts'
import { createKey, listKeys, showKey } from '../accounts/keys.ts'
import { TABLES } from '../generated/tables.ts'
import { credit } from '../ledger/credit.ts'
import { vndToMicro } from '../lib/money.ts'
import type { Foundation } from './foundation.ts'
import type { Gateway } from './gateway.ts'

const DEVELOPER = 'developer@example.com'
const WELCOME_CREDIT_VND = 1_000_000

/** The development account's key: made at the first start, shown again at later ones. */
async function developerKey({ sql, secrets }: Foundation): Promise<string> {
  const account = (await findAccountByEmail(sql, DEVELOPER)) ?? (await createAccount(sql, DEVELOPER))
  const { accountId } = account
  await credit(sql, {
    accountId,
    amountMicroVnd: vndToMicro(WELCOME_CREDIT_VND),
    kind: 'adjustment',
    reference: 'welcome',
    note: 'development account',
  })
  const row = (await listKeys(sql, accountId)).find(candidate => candidate.showable)
  const shown = row === undefined ? null : await showKey(sql, secrets, row)
  if (shown?.outcome === 'shown') return shown.key
  return (await createKey(sql, secrets, { accountId, label: 'development' })).key
}

/** Text for the terminal; holds an API key, so it is never logged. */
export async function welcome(foundation: Foundation, { url, upstreams }: Gateway): Promise<string> {
  const key = await developerKey(foundation)
  const { settings, entries } = TABLES
  const body = JSON.stringify({
    model: settings.fallback,
    max_tokens: 200,
    messages: [{ role: 'user', content: 'Say hello in Vietnamese.' }],
  })
  const simulated = upstreams.sandboxed
  return [
    '',
    `The gateway serves ${entries.length} models on ${url}`,
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
    'Read on    README.md; Ctrl-C stops everything',
    '',
  ].join('\n')
}
