/** Simulates a transfer, for the sandbox: only the bank is simulated, everything after it is real. */

import { uuidv7 } from '../lib/ids.ts'
import { readOrder } from './orders.ts'
import { type Received, receiveTransactions } from './receive.ts'
import type { PaymentServices } from './types.ts'

/**
 * Simulates a transfer for an order, with the memo mangled the way banks do it. Null if simulation is off, no bank account is
 * configured, or the account has no such order.
 */
export async function simulateTransfer(
  services: PaymentServices,
  { accountId, orderCode, amountVnd }: { accountId: number; orderCode: string; amountVnd?: number },
): Promise<Received | null> {
  const order = services.simulation ? await readOrder(services, { accountId, orderCode }) : null
  if (order === null || services.bank === null) return null
  const reference = uuidv7()
  const [received] = await receiveTransactions(
    services,
    { provider: 'simulated', via: 'simulated', notificationId: null },
    [
      {
        providerReference: reference,
        bankReference: null,
        accountNumber: services.bank.accountNumber,
        amountVnd: BigInt(amountVnd ?? order.amountVnd),
        direction: 'in',
        memo: `MBVCB.${reference.slice(0, 8)}.${orderCode.toLowerCase()}.CT tu 0071000000000 NGUYEN VAN A`,
        bookedAt: new Date(),
      },
    ],
  )
  return received as Received
}
