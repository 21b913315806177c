/**
 * Hides a tool call's signature in the call's id. Clients must send the signature back with the call, and in the messages
 * format the id is the only field that all of them return unchanged.
 */

const MARK = '__sig_'
/** Longest signature to carry, in characters. Longer ones are dropped. */
const SIGNATURE_LENGTH_MAX = 32_768

/** Returns the call's id for the client. The signature adds only letters, digits, `_` and `-`. */
export function signId(id: string, signature: string | null): string {
  if (signature === null || signature === '' || signature.length > SIGNATURE_LENGTH_MAX) return id
  return `${id}${MARK}${Buffer.from(signature, 'utf8').toString('base64url')}`
}

/** Splits an id from a client into the call's own id and the signature; the signature is null if the id contains none. */
export function readSignedId(id: string): { id: string; signature: string | null } {
  const mark = id.indexOf(MARK)
  if (mark <= 0) return { id, signature: null }
  const signature = Buffer.from(id.slice(mark + MARK.length), 'base64url').toString('utf8')
  return { id: id.slice(0, mark), signature: signature === '' ? null : signature }
}
