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
  readonly key: number
  readonly call: string
  readonly cost: bigint
}

/** What a key may spend, has spent, and holds for its calls in flight. */
export type ModelLimit = Readonly<Record<'limit' | 'spent' | 'held', bigint>>

export type ModelAnswer = 'refused' | ModelLimit | Readonly<Record<'held' | 'balance' | 'free', bigint | null>>

export interface ModelWallet {
  balance: bigint
  held: bigint
  seq: number
}

export class Model {
  readonly wallets = new Map<number, ModelWallet>()
  readonly revoked = new Set<number>()
  /** The limits of keys that have one, and what all keys have spent. */
  readonly limits = new Map<number, bigint>()
  readonly spent = new Map<number, bigint>()
  readonly holds = new Map<string, { account: number; key: number; amount: bigint }>()
  readonly usage = new Map<string, { charged: bigint; after: bigint }>()

  /**
   * Places holds. For each request, returns `refused`, the limit that its key has used up, or three amounts: `held` is what the
   * call now holds (null if the free money did not suffice); `balance` and `free` are the wallet's balance and the free money
   * before this hold (null if the call already had a hold).
   */
  place(requests: readonly ModelHold[]): ModelAnswer[] {
    const wallets = new Map([...this.wallets].map(([account, wallet]) => [account, { ...wallet, sum: 0n, calls: 0 }]))
    const keys = new Map(requests.map(({ key }) => [key, { ...this.#limitOf(key), sum: 0n, calls: 0 }]))
    return requests.map(({ account, key, call, want, wantMax }) => {
      if (this.revoked.has(key)) return 'refused'
      const had = this.holds.get(call)
      if (had !== undefined) return { held: had.amount, balance: null, free: null }
      let [least, most, rest] = [want, wantMax, null as bigint | null]
      const given = keys.get(key)!
      if (given.limit !== null) {
        const { limit, spent, held } = given
        const share = divide(given, { want, wantMax, whole: limit - spent - held, room: limit - spent - held })
        if (share.amount <= 0n) return { limit, spent, held }
        ;[least, most, rest] = [min(want, share.amount), share.amount, share.free]
      }
      const wallet = wallets.get(account)!
      const { balance, held } = wallet
      const { free, amount } = divide(wallet, { want: least, wantMax: most, whole: balance, room: balance - held })
      const left = max(free, 0n)
      const answer = { held: amount === 0n ? null : amount, balance, free: rest === null ? left : min(left, rest) }
      if (amount === 0n) return answer
      this.holds.set(call, { account, key, amount })
      this.wallets.get(account)!.held += amount
      return answer
    })
  }

  #limitOf(key: number): { limit: bigint | null; spent: bigint; held: bigint } {
    const held = [...this.holds.values()].reduce((sum, hold) => (hold.key === key ? sum + hold.amount : sum), 0n)
    return { limit: this.limits.get(key) ?? null, spent: this.spent.get(key) ?? 0n, held }
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
    return calls.map(({ account, key, call, cost }) => {
      const wallet = this.wallets.get(account)!
      const charged = cost < wallet.balance ? cost : wallet.balance
      this.spent.set(key, (this.spent.get(key) ?? 0n) + charged)
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

/**
 * Divides the money of a wallet, or what is left of a key's limit, among calls that come one after the other: each gets its
 * target of up to a sixteenth of the `whole`, or the last of the `room`. `free` is what is left for the call.
 */
function divide(
  given: { readonly held: bigint; sum: bigint; calls: number },
  { want, wantMax, whole, room }: Readonly<Record<'want' | 'wantMax' | 'whole' | 'room', bigint>>,
): { free: bigint; amount: bigint } {
  const target = max(want, min(wantMax, whole / 16n))
  const free = room - given.sum
  const isAlone = given.calls === 0 && given.held === 0n
  given.sum += target
  given.calls++
  return { free, amount: target <= free ? target : want <= free || isAlone ? max(free, 0n) : 0n }
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
}

function max(left: bigint, right: bigint): bigint {
  return left > right ? left : right
}
