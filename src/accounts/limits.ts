/** Every limit on people in one place, with the values that a gateway runs with. */

export interface PeopleLimits {
  readonly passwordCharactersMin: number
  readonly passwordBytesMax: number
  readonly sessionIdleSeconds: number
  readonly sessionSeconds: number
  readonly operatorSessionIdleSeconds: number
  readonly operatorSessionSeconds: number
  /** Sessions of one account; the oldest makes room. */
  readonly sessionsMax: number
  /** Age of a password check after which a secret is not shown without a new one. */
  readonly passwordFreshSeconds: number
  /** Age of a second factor after which money is not moved without a new one. */
  readonly factorFreshSeconds: number
  /** Wrong codes at one account, from devices that never gave a right one, before the first wait. */
  readonly factorFailuresMax: number
  readonly verifySeconds: number
  readonly resetSeconds: number
  /** Failures at one address from one network, or from a device that knows it, before the first wait. */
  readonly guessesMax: number
  /** Failures at one address from everywhere: from here on it is slow, for devices that have never signed in there. */
  readonly accountFailuresMax: number
  /** Failures from one host, and from one network. Mobile networks put many homes behind one address. */
  readonly hostFailuresMax: number
  readonly networkFailuresMax: number
  /** Time that a device that has signed in is known. */
  readonly deviceSeconds: number
  readonly throttleFirstSeconds: number
  readonly throttleSeconds: number
  /** Silence after which failures are forgotten. */
  readonly throttleForgetSeconds: number
  /** Mails to one address within an hour. */
  readonly mailsPerHourMax: number
  /** Time that it is known which mails went to whom. */
  readonly mailsSeconds: number
  /** Registrations from one network, and from everywhere, within an hour. */
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
  verifySeconds: 86_400,
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
