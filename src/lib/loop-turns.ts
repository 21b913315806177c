/**
 * Shares the event loop: work that strangers can make long is cut into pieces, and at most a few milliseconds of pieces,
 * or one longer piece, run in one turn of the loop. What other connections have to say is heard in between.
 */

/** Pieces run one behind the other until so much time of a turn is gone, in ms. */
const TURN_MS = 5

type Piece = () => void

const waiting: Piece[] = []
let scheduled = false

/** Runs a piece of work in a turn of its own, first come, first served. Rejects with what it throws. */
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
