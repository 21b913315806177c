/**
 * Signatures that must come back with a tool call travel inside the call's id, because the messages format has no other
 * place that every client returns unchanged.
 */

const MARK = '__sig_'
/** Longest signature carried, in characters; a longer one is left out. */
const SIGNATURE_LENGTH_MAX = 32_768

/** The id that the client gets: letters, digits, `_` and `-` only. */
export function signId(id: string, signature: string | null): string {
  if (signature === null || signature === '' || signature.length > SIGNATURE_LENGTH_MAX) return id
  return `${id}${MARK}${Buffer.from(signature, 'utf8').toString('base64url')}`
}

/** Takes an id apart that `signId` may have made. */
export function readSignedId(id: string): { id: string; signature: string | null } {
  const mark = id.indexOf(MARK)
  if (mark <= 0) return { id, signature: null }
  const signature = Buffer.from(id.slice(mark + MARK.length), 'base64url').toString('utf8')
  return { id: id.slice(0, mark), signature: signature === '' ? null : signature }
}
