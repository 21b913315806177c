/** Codes of authenticator apps (RFC 6238): SHA-1, six digits, 30 seconds, which every app supports. */

/** Also accepts the previous and the next code, for clocks that are off and slow typists. */
const STEPS_AROUND = 1
const STEP_MS = 30_000
const SECRET_BYTES = 20

export interface Authenticator {
  /** In base 32, for people to type into their app. */
  readonly secret: string
  /** `otpauth://totp/…`, for the QR code. */
  readonly uri: string
}

/** The library is loaded on first use, to keep start-up fast. */
const library = () => import('otpauth')

export async function makeTotpSecret(): Promise<string> {
  const { Secret } = await library()
  return new Secret({ size: SECRET_BYTES }).base32
}

export async function describeAuthenticator(
  secret: string,
  { service, email }: { service: string; email: string },
): Promise<Authenticator> {
  const { TOTP, Secret } = await library()
  const totp = new TOTP({ issuer: service, label: email, secret: Secret.fromBase32(secret) })
  return { secret, uri: totp.toString() }
}

/** Whether the text is six digits, ignoring spaces. */
export function isCode(typed: string): boolean {
  return /^\d{6}$/.test(digitsOf(typed))
}

const digitsOf = (typed: string) => typed.replace(/\s/g, '')

/** The time step that the code belongs to, or null if the code is wrong. Ignores spaces. */
export async function stepOfCode(secret: string, code: string, nowMs: number): Promise<number | null> {
  if (!isCode(code)) return null
  const token = digitsOf(code)
  const { TOTP, Secret } = await library()
  const totp = new TOTP({ secret: Secret.fromBase32(secret) })
  const delta = totp.validate({ token, timestamp: nowMs, window: STEPS_AROUND })
  return delta === null ? null : Math.floor(nowMs / STEP_MS) + delta
}
