/** All limits on people, with the values that a gateway uses. */

export interface PeopleLimits {
  readonly passwordCharactersMin: number
  readonly passwordBytesMax: number
  readonly sessionIdleSeconds: number
  readonly sessionSeconds: number
  readonly operatorSessionIdleSeconds: number
  readonly operatorSessionSeconds: number
  /** Sessions per account; beyond that, a new one ends the oldest. */
  readonly sessionsMax: number
  /** Age of a password check after which revealing a secret requires a new one. */
  readonly passwordFreshSeconds: number
  /** Age of a second factor after which moving money requires a new one. */
  readonly factorFreshSeconds: number
  /** Wrong codes for one account, from devices that have never given a right one, before the first wait. */
  readonly factorFailuresMax: number
  /** How long a device has to sign a challenge. */
  readonly passkeyChallengeSeconds: number
  /** Passkeys per account. */
  readonly passkeysMax: number
  readonly verifySeconds: number
  /** How long people have to sign in at the provider and come back. */
  readonly attemptSeconds: number
  /** How long the owner of an address has to agree to linking a provider. */
  readonly linkSeconds: number
  readonly providerTimeoutMs: number
  readonly providerReplyBytesMax: number
  readonly resetSeconds: number
  /** Failures for one address from one network, or from a device that knows it, before the first wait. */
  readonly guessesMax: number
  /** Failures for one address from everywhere; above this, devices that never signed in there are slowed down. */
  readonly accountFailuresMax: number
  /** Failures from one host, and from one network. Mobile networks put many homes behind one address. */
  readonly hostFailuresMax: number
  readonly networkFailuresMax: number
  /** How long a device that signed in stays known. */
  readonly deviceSeconds: number
  readonly throttleFirstSeconds: number
  readonly throttleSeconds: number
  /** Quiet time after which failures are forgotten. */
  readonly throttleForgetSeconds: number
  /** Mails to one address per hour. */
  readonly mailsPerHourMax: number
  /** How long the log of sent mails is kept. */
  readonly mailsSeconds: number
  /** Registrations per hour, from one network and from everywhere. */
  readonly registrationsPerNetworkMax: number
  readonly registrationsMax: number
}

export const PEOPLE_LIMITS: PeopleLimits = {
  passwordCharactersMin: 10,
  passwordBytesMax: 128,
  sessionIdleSeconds: 7 * 86_400,
  sessionSeconds: 30 * 86_400,
  operatorSessionIdleSeconds: 3_600,
  operatorSessionSeconds: 12 * 3_600,
  sessionsMax: 50,
  passwordFreshSeconds: 300,
  factorFreshSeconds: 600,
  factorFailuresMax: 10,
  passkeyChallengeSeconds: 300,
  passkeysMax: 20,
  verifySeconds: 86_400,
  attemptSeconds: 600,
  linkSeconds: 3_600,
  providerTimeoutMs: 10_000,
  providerReplyBytesMax: 1024 * 1024,
  resetSeconds: 3_600,
  guessesMax: 5,
  accountFailuresMax: 50,
  hostFailuresMax: 20,
  networkFailuresMax: 200,
  deviceSeconds: 180 * 86_400,
  throttleFirstSeconds: 60,
  throttleSeconds: 3_600,
  throttleForgetSeconds: 86_400,
  mailsPerHourMax: 5,
  mailsSeconds: 90 * 86_400,
  registrationsPerNetworkMax: 20,
  registrationsMax: 1_000,
}
