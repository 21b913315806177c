/**
 * Deadlines that are nearly always cancelled before they expire. All deadlines of the same length share one timer, so each of
 * them costs only a list node.
 */

export interface DeadlineTarget {
  late(): void
}

/** From this length on, in ms, deadlines are rounded up to whole seconds, so that they share a few timers. */
const ROUNDED_FROM_MS = 10_000

export class Deadline {
  readonly #list: DeadlineList
  readonly dueMs: number
  readonly target: DeadlineTarget
  /** @internal Neighbours in the linked list. */
  before: Deadline | null = null
  after: Deadline | null = null
  #ended = false

  constructor(list: DeadlineList, dueMs: number, target: DeadlineTarget) {
    this.#list = list
    this.dueMs = dueMs
    this.target = target
  }

  /** Cancels the deadline. Returns false if it has already expired or been cancelled. */
  end(): boolean {
    if (this.#ended) return false
    this.#ended = true
    this.#list.remove(this)
    return true
  }
}

class DeadlineList {
  readonly #afterMs: number
  #first: Deadline | null = null
  #last: Deadline | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(afterMs: number) {
    this.#afterMs = afterMs
  }

  add(target: DeadlineTarget): Deadline {
    const deadline = new Deadline(this, performance.now() + this.#afterMs, target)
    deadline.before = this.#last
    if (this.#last === null) this.#first = deadline
    else this.#last.after = deadline
    this.#last = deadline
    this.#timer ??= setTimeout(() => this.#look(), this.#afterMs).unref()
    return deadline
  }

  remove(deadline: Deadline): void {
    const { before, after } = deadline
    if (before === null) this.#first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    // A removed node that the garbage collector has moved to its old generation would keep all later ones from being collected.
    deadline.before = null
    deadline.after = null
  }

  #look(): void {
    this.#timer = null
    const now = performance.now()
    for (let first = this.#first; first !== null; first = this.#first) {
      if (first.dueMs > now) {
        this.#timer ??= setTimeout(() => this.#look(), Math.ceil(first.dueMs - now)).unref()
        return
      }
      first.end()
      first.target.late()
    }
    if (this.#timer === null) lists.delete(this.#afterMs)
  }
}

const lists = new Map<number, DeadlineList>()

/** Calls `target.late()` after `afterMs` unless the deadline is ended first. Does not keep the process alive. */
export function startDeadline(afterMs: number, target: DeadlineTarget): Deadline {
  const ms = afterMs < ROUNDED_FROM_MS ? Math.max(0, Math.ceil(afterMs)) : Math.ceil(afterMs / 1000) * 1000
  let list = lists.get(ms)
  if (list === undefined) {
    list = new DeadlineList(ms)
    lists.set(ms, list)
  }
  return list.add(target)
}
