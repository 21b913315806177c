/**
 * The operator's pages over HTTP with the calls of a thousand customers, served by a separate gateway process.
 * Prints the first and the median time of each; asserts nothing. Run: npm exec node bench/desk.ts [thousands of calls]
 */

import { createAccount } from '../src/accounts/accounts.ts'
import { BUSINESS_SPLITS } from '../src/ledger/reports/business.ts'
import { addDays, dayOf } from '../src/ledger/reports/days.ts'
import { fillDesk } from './desk-rows.ts'
import { timesOf, whileSignedIn } from './signed-in.ts'

const ACCOUNTS = 1_000

const calls = Number(process.argv[2] ?? 1_000) * 1_000

await whileSignedIn(
  async sql => {
    const started = performance.now()
    await fillDesk(sql, { calls, accounts: ACCOUNTS })
    const seconds = ((performance.now() - started) / 1_000).toFixed(0)
    console.log(`${calls} calls of ${ACCOUNTS} accounts, filled in ${seconds} s`)
    const { accountId } = await createAccount(sql, 'operator@example.com')
    await sql.unsafe('update account set is_operator = true where account_id = $1::text::bigint', [String(accountId)])
    return accountId
  },
  async signedIn => {
    const { sql } = signedIn
    const [one] = await sql.unsafe('select call_id from usage where account_id = 77 order by seq limit 1')
    const [middle] = await sql.unsafe(
      `select call_id from usage where call_id >= uuidv7(interval '-45 days') order by call_id limit 1`,
    )
    const paths = [...logPages(middle?.call_id), `/operator/calls/${one?.call_id}`, '/operator', ...businessPages()]
    for (const path of [...paths, ...process.argv.slice(3)]) {
      const { text } = await timesOf(signedIn, path)
      console.log(`${path}: ${text}`)
    }
  },
)

/** Revenue, cost and margin of 30 and of 90 days, each way to split them. */
function businessPages(): string[] {
  const from = addDays(dayOf(new Date()), -89)
  return BUSINESS_SPLITS.flatMap(by => [`/operator/business?by=${by}`, `/operator/business?by=${by}&from=${from}`])
}

/** The log of calls, filtered in the ways that operators do. */
function logPages(callInTheMiddle: string): string[] {
  const days = `from=${addDays(dayOf(new Date()), -89)}`
  const queries = [
    ...['', days, `${days}&before=${callInTheMiddle}`],
    ...[
      'account=customer-77@example.com',
      'account=customer-1@example.com',
      `${days}&account=customer-1@example.com&status=502`,
    ],
    ...['key=77', 'asked=vendor/model-4', 'model=model-4', 'model=model-z', 'upstream=first', `${days}&upstream=rare`],
    ...['status=error', 'status=502', 'status=418', 'slow=60', `${days}&slow=61`, 'slow=600', `${days}&asked=nothing`],
    ...[`${days}&status=error&upstream=second&model=model-3`, `${days}&status=502&upstream=rare`],
  ]
  return queries.map(query => `/operator/calls?${query}`)
}
