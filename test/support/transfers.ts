/** Credits money by bank transfer, for gateways that do not simulate payments. */

import { COMMAND_LINE } from '../../src/accounts/operator-log.ts'
import { createPayments } from '../../src/app/back-office.ts'
import { environmentConfig } from '../../src/app/foundation.ts'
import type { Sql } from '../../src/lib/database.ts'
import { enterTransfer } from '../../src/payments/enter.ts'
import { TEST_BANK } from './gateway.ts'

let transfers = 0

/** Records a transfer with this memo, as an operator would from a bank statement. Returns the outcome. */
export async function transferMoney(
  sql: Sql,
  { memo, amountVnd, environment = TEST_BANK }: { memo: string; amountVnd: number; environment?: NodeJS.ProcessEnv },
): Promise<string> {
  const payments = createPayments({ config: environmentConfig(environment), sql, onCredited() {}, report() {} })
  const given = { bankReference: `FT${++transfers}`, amountVnd, memo, by: COMMAND_LINE, reason: 'test' }
  return (await enterTransfer(payments, given)).outcome
}
