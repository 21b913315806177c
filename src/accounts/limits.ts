/** All limits on accounts and signing in, with the values that a gateway uses. */

export interface PeopleLimits {
  readonly passwordCharactersMin: number
  readonly passwordBytesMax: number
  readonly sessionIdleSeconds: number
  readonly sessionSeconds: number
  readonly operatorSessionIdleSeconds: number
  readonly operatorSessionSeconds: number
  /** Sessions per account; beyond that, a new one ends the oldest. */
  readonly sessionsMax: number
  /** Revealing a secret requires a password check no older than this. */
  readonly passwordFreshSeconds: number
  /** Moving money requires a second-factor check no older than this. */
  readonly factorFreshSeconds: number
  /**
   * Wrong second-factor codes for one account before the first wait. Devices that have entered a correct code before are
   * counted separately, with `guessesMax`.
   */
  readonly factorFailuresMax: number
  /** How long a device has to sign a challenge. */
  readonly passkeyChallengeSeconds: number
  readonly passkeysMax: number
  readonly verifySeconds: number
  /** How long people have to sign in at the provider and come back. */
  readonly attemptSeconds: number
  /** Sign-ins with a provider that may begin per hour in one network. Each leaves a row until it has expired. */
  readonly attemptsPerNetworkMax: number
  /** How long the owner of an address has to agree to linking a provider. */
  readonly linkSeconds: number
  readonly providerTimeoutMs: number
  readonly providerReplyBytesMax: number
  readonly resetSeconds: number
  /**
   * Failed sign-ins to one email address before the first wait, counted per network, or per device if the device has signed in
   * to that address before.
   */
  readonly guessesMax: number
  /**
   * Failed sign-ins to one email address from all networks together, not counting devices that have signed in to that address
   * before. Beyond that, all other devices are slowed down.
   */
  readonly accountFailuresMax: number
  /** Failed sign-ins from one host; generous, because mobile networks put many customers behind one IP address. */
  readonly hostFailuresMax: number
  readonly networkFailuresMax: number
  /** Right passwords per hour for one account, because checking one takes a lot of processor time. */
  readonly rightPasswordsPerHourMax: number
  /** How long a device that has signed in is remembered. */
  readonly deviceSeconds: number
  readonly throttleFirstSeconds: number
  readonly throttleSeconds: number
  /** Failures are forgotten after this long without another. */
  readonly throttleForgetSeconds: number
  /** Emails per hour to one address. */
  readonly mailsPerHourMax: number
  /** Pauses before each retry of a notice about a change of the account, in ms. */
  readonly noticePausesMs: readonly number[]
  /** Maximum number of notices that wait for a retry. */
  readonly noticesWaitingMax: number
  /** How long the log of sent emails is kept. */
  readonly mailsSeconds: number
  /** Registrations per hour from one network; `registrationsMax` is the limit for all networks together. */
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
  attemptsPerNetworkMax: 1_000,
  linkSeconds: 3_600,
  providerTimeoutMs: 10_000,
  providerReplyBytesMax: 1024 * 1024,
  resetSeconds: 3_600,
  guessesMax: 5,
  accountFailuresMax: 50,
  hostFailuresMax: 20,
  networkFailuresMax: 200,
  rightPasswordsPerHourMax: 100,
  deviceSeconds: 180 * 86_400,
  throttleFirstSeconds: 60,
  throttleSeconds: 3_600,
  throttleForgetSeconds: 86_400,
  mailsPerHourMax: 5,
  noticePausesMs: [60_000, 300_000, 1_800_000, 7_200_000],
  noticesWaitingMax: 1_000,
  mailsSeconds: 90 * 86_400,
  registrationsPerNetworkMax: 20,
  registrationsMax: 1_000,
}
