/**
 * Shares the event loop fairly: work whose length clients control is split into pieces. A turn of the loop runs pieces for at
 * most a few milliseconds (or one longer piece), and other connections are served between turns.
 */

/** Time budget of a turn, in ms. Once it is used up, no further piece starts in this turn. */
const TURN_MS = 5

/** Time in a turn, in ms, after which data that arrives has to wait for the next. */
const ARRIVALS_MS = 20

type Piece = () => void

/** Two lines that alternate, so that a call with many pieces does not wait for all pages before each of them. */
const calls: Piece[] = []
const pages: Piece[] = []
let isPagesTurn = false
let scheduled = false

/** Runs a piece of a call's work in a later turn of the event loop, first come, first served. Rejects with any error the work throws. */
export function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return waitIn(calls, work)
}

/** Like `inTurn`, for pages, forms and bank notifications, which need no key: however many wait, each lets a piece of a call pass. */
export function inPageTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return waitIn(pages, work)
}

/** When data that arrives in this turn has to wait; 0 if none has arrived yet. */
let arrivalsEndMs = 0

/**
 * Whether so much time has passed since the first data arrived in this turn that whoever sends more should be paused until the
 * next. Many megabytes can arrive in one turn.
 */
export function isTurnUsedUp(): boolean {
  const nowMs = performance.now()
  if (arrivalsEndMs > 0) return nowMs >= arrivalsEndMs
  arrivalsEndMs = nowMs + ARRIVALS_MS
  setImmediate(forgetArrivals)
  return false
}

function forgetArrivals(): void {
  arrivalsEndMs = 0
}

function waitIn<Result>(line: Piece[], work: () => Result | Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    line.push(() => {
      try {
        resolve(work())
      } catch (error) {
        reject(error)
      }
    })
    schedule()
  })
}

function schedule(): void {
  if (scheduled) return
  scheduled = true
  setImmediate(runPieces)
}

function runPieces(): void {
  const endMs = performance.now() + TURN_MS
  do {
    isPagesTurn = !isPagesTurn
    const piece = isPagesTurn ? (pages.shift() ?? calls.shift()) : (calls.shift() ?? pages.shift())
    piece?.()
  } while (isWaiting() && performance.now() < endMs)
  scheduled = false
  if (isWaiting()) schedule()
}

function isWaiting(): boolean {
  return calls.length > 0 || pages.length > 0
}
