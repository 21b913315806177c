/**
 * Hides the signature that the client must send back with a tool call in the call's id. In the messages format, no other field is
 * returned unchanged by every client.
 */

const MARK = '__sig_'
/** Longest signature to carry, in characters. Longer ones are dropped. */
const SIGNATURE_LENGTH_MAX = 32_768

/** Returns the id for the client, made of letters, digits, `_` and `-` only. */
export function signId(id: string, signature: string | null): string {
  if (signature === null || signature === '' || signature.length > SIGNATURE_LENGTH_MAX) return id
  return `${id}${MARK}${Buffer.from(signature, 'utf8').toString('base64url')}`
}

/** Splits an id that `signId` may have made into the original id and the signature. */
export function readSignedId(id: string): { id: string; signature: string | null } {
  const mark = id.indexOf(MARK)
  if (mark <= 0) return { id, signature: null }
  const signature = Buffer.from(id.slice(mark + MARK.length), 'base64url').toString('utf8')
  return { id: id.slice(0, mark), signature: signature === '' ? null : signature }
}
