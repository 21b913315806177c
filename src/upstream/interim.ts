/** Limits the interim (1xx) replies to a request: a server can send them without end, and each takes as long as a reply. */

/** Maximum number of interim replies to one request. */
export const INTERIM_MAX = 100

/** For `onInfo` of undici's `request`: ends the request with an Error after too many interim replies. */
export function fewInterim(): () => void {
  let count = 0
  return () => {
    if (++count > INTERIM_MAX) throw new Error('too many interim replies')
  }
}
