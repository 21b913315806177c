/** Groups the calls of a batch by wallet, in the order in which statements lock wallets. */

export interface WalletCalls {
  readonly accountId: number
  /** Positions of the wallet's calls in the batch, ascending. */
  readonly indexes: readonly number[]
}

/** Returns one element per wallet, by account number. */
export function byWallet<Call>(calls: readonly Call[], accountOf: (call: Call) => number): readonly WalletCalls[] {
  const wallets = new Map<number, number[]>()
  for (let index = 0; index < calls.length; index++) {
    const accountId = accountOf(calls[index]!)
    const indexes = wallets.get(accountId)
    if (indexes === undefined) wallets.set(accountId, [index])
    else indexes.push(index)
  }
  return [...wallets]
    .map(([accountId, indexes]) => ({ accountId, indexes }))
    .sort((one, other) => one.accountId - other.accountId)
}
