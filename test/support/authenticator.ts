/** Plays an authenticator app. */

import { Secret, TOTP } from 'otpauth'

const STEP_MS = 30_000

/** The code of the current time step, or of a later one; gateways also accept the code of the next step. */
export function codeOf(secret: string, { stepsLater = 0, nowMs = Date.now() } = {}): string {
  const totp = new TOTP({ secret: Secret.fromBase32(secret.replaceAll(' ', '')) })
  return totp.generate({ timestamp: nowMs + stepsLater * STEP_MS })
}

/** Six digits that are not a code of this or a neighbouring time step. */
export function wrongCode(secret: string): string {
  const right = [-2, -1, 0, 1, 2].map(stepsLater => codeOf(secret, { stepsLater }))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find(code => !right.includes(code)) as string
}
