/**
 * Times the operator pages over HTTP, with the calls of a thousand customers in the database and the gateway in a process of
 * its own. Prints what each page costs; asserts nothing. Run: npm exec node bench/desk.ts [thousands of calls]
 */

import { createAccount } from '../src/accounts/accounts.ts'
import { fillDesk } from './desk-rows.ts'
import { businessPages, deskPages, logPages } from './page-lists.ts'
import { printPages } from './page-work.ts'
import { whileSignedIn } from './signed-in.ts'

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
    const paths = [
      ...logPages(middle?.call_id),
      `/operator/calls/${one?.call_id}`,
      ...deskPages(77),
      ...businessPages(),
    ]
    await printPages(signedIn, [...paths, ...process.argv.slice(3)])
  },
)
