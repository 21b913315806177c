/** The ledger as plain arithmetic, short enough to check by reading: what every SQL statement must return. */

export interface ModelHold {
  readonly account: number
  readonly key: number
  readonly call: string
  readonly want: bigint
  readonly wantMax: bigint
}

export interface ModelExtension {
  readonly account: number
  readonly call: string
  readonly want: bigint
}

export interface ModelSettlement {
  readonly account: number
  readonly call: string
  readonly cost: bigint
}

export interface ModelWallet {
  balance: bigint
  held: bigint
  seq: number
}

export class Model {
  readonly wallets = new Map<number, ModelWallet>()
  readonly revoked = new Set<number>()
  readonly holds = new Map<string, { account: number; key: number; amount: bigint }>()
  readonly usage = new Map<string, { charged: bigint; after: bigint }>()

  /**
   * Places holds. For each request, returns `refused` or three amounts: `held` is what the call now holds (null if the free
   * money did not suffice); `balance` and `free` are the wallet's balance and free money before this hold (null if the call
   * already had a hold).
   */
  place(requests: readonly ModelHold[]): ('refused' | Record<'held' | 'balance' | 'free', bigint | null>)[] {
    const before = new Map([...this.wallets].map(([account, wallet]) => [account, { ...wallet }]))
    const sums = new Map<number, bigint>()
    return requests.map(({ account, key, call, want, wantMax }) => {
      if (this.revoked.has(key)) return 'refused'
      const had = this.holds.get(call)
      if (had !== undefined) return { held: had.amount, balance: null, free: null }
      const { balance, held } = before.get(account)!
      const first = !sums.has(account)
      const target = max(want, min(wantMax, balance / 16n))
      const free = balance - held - (sums.get(account) ?? 0n)
      sums.set(account, (sums.get(account) ?? 0n) + target)
      const amount = target <= free ? target : want <= free ? free : first && held === 0n ? balance : 0n
      const answer = { held: amount === 0n ? null : amount, balance, free: max(free, 0n) }
      if (amount === 0n) return answer
      this.holds.set(call, { account, key, amount })
      this.wallets.get(account)!.held += amount
      return answer
    })
  }

  /**
   * Extends holds. For each request, returns the new amount of its hold (null if the call has none), and the wallet's free
   * money after all requests.
   */
  extend(requests: readonly ModelExtension[]): { held: bigint | null; free: bigint }[] {
    const held = requests.map(({ account, call, want }) => {
      const hold = this.holds.get(call)
      if (hold === undefined) return null
      const wallet = this.wallets.get(account)!
      const more = max(0n, min(want - hold.amount, wallet.balance - wallet.held))
      wallet.held += more
      hold.amount += more
      return hold.amount
    })
    return requests.map(({ account }, index) => {
      const wallet = this.wallets.get(account)!
      return { held: held[index] as bigint | null, free: wallet.balance - wallet.held }
    })
  }

  /** Settles all calls; if one was settled before, changes nothing and returns null. */
  settle(calls: readonly ModelSettlement[]): { charged: bigint; after: bigint }[] | null {
    if (calls.some(({ call }) => this.usage.has(call))) return null
    for (const { call, account } of calls) {
      this.wallets.get(account)!.held -= this.holds.get(call)?.amount ?? 0n
      this.holds.delete(call)
    }
    return calls.map(({ account, call, cost }) => {
      const wallet = this.wallets.get(account)!
      const charged = cost < wallet.balance ? cost : wallet.balance
      wallet.balance -= charged
      wallet.seq++
      const row = { charged, after: wallet.balance }
      this.usage.set(call, row)
      return row
    })
  }

  /** Releases holds. Writes no usage rows. */
  release(calls: readonly string[]): void {
    for (const call of calls) {
      const hold = this.holds.get(call)
      if (hold !== undefined) this.wallets.get(hold.account)!.held -= hold.amount
      this.holds.delete(call)
    }
  }

  credit(account: number, amount: bigint): void {
    const wallet = this.wallets.get(account)!
    wallet.balance += amount
    wallet.seq++
  }
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
