/** Removes secrets and account ids from upstream error texts before clients see them. */

/** Longest text shown to a client, in characters. */
const TEXT_LENGTH_MAX = 4_000
/** Longest text in which patterns are searched, in characters: a text that is all beginnings of secrets takes quadratic time. */
const SEARCHED_MAX = 2 * TEXT_LENGTH_MAX

const SECRETS: readonly RegExp[] = [
  // Keys with a well-known prefix, and bearer tokens. The digit or asterisk distinguishes keys from words like `sk_field`.
  /\b(?:sk|pk|rk)[-_](?=[\w*.-]{0,200}[\d*])[\w*.-]{6,}/gi,
  /\bAIza[\w-]{10,}/g,
  /\bBearer\s+(?=[\w.~+/=*-]*[\d*])[\w.~+/=*-]{6,}/gi,
  /\b(?:AKIA|ASIA)[A-Z0-9]{8,}\b/g,
  // JSON web tokens, and long strings after the words key, secret or password.
  /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g,
  /\b(?:api[ _-]?key|access[ _-]?token|secret|password|credential)s?\b["']?\s*[:=]\s*["']?[\w.~+/=*-]{6,}/gi,
  // Accounts: organisation and project ids, cloud resource names, user names in URLs.
  /\b(?:org|proj|acct)[-_](?=[A-Za-z]*\d)[A-Za-z0-9]{8,}/g,
  /\barn:aws[\w-]*:[^\s"'`]+/g,
  /\/\/[^\s/@:]+:[^\s/@]+@/g,
]

/**
 * Masks secrets and truncates the text to 4,000 characters. `secrets`: further exact strings to mask, such as the credential in
 * use.
 */
export function maskSecrets(text: string, secrets: readonly string[] = []): string {
  let masked = text
  for (const secret of secrets) {
    if (secret.length >= 6) masked = masked.replaceAll(secret, '***')
  }
  masked = beginningOf(masked)
  for (const pattern of SECRETS) masked = masked.replace(pattern, '***')
  // Truncate last: a secret cut in two would not be recognised.
  return masked.length > TEXT_LENGTH_MAX ? `${masked.slice(0, TEXT_LENGTH_MAX)}…` : masked
}

/** As much of a text as is searched, without the word that would be cut in two. */
function beginningOf(text: string): string {
  if (text.length <= SEARCHED_MAX) return text
  const end = text.lastIndexOf(' ', SEARCHED_MAX)
  return text.slice(0, end > TEXT_LENGTH_MAX ? end : SEARCHED_MAX)
}
