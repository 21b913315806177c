/**
 * Shares the event loop fairly: work whose length clients control is split into pieces. A turn of the loop runs pieces for at
 * most a few milliseconds (or one longer piece), and other connections are served between turns.
 */

/** Time budget of a turn, in ms. Once it is used up, no further piece starts in this turn. */
const TURN_MS = 5

type Piece = () => void

const waiting: Piece[] = []
let scheduled = false

/** Runs a piece of work in a later turn of the event loop, first come, first served. Rejects with any error the work throws. */
export function inTurn<Result>(work: () => Result | Promise<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    waiting.push(() => {
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
    waiting.shift()?.()
  } while (waiting.length > 0 && performance.now() < endMs)
  scheduled = false
  if (waiting.length > 0) schedule()
}
