/**
 * Builds the options with which browsers register and use passkeys, and verifies the browsers' responses (WebAuthn level 3).
 * Passkeys must verify who is using them (`required`), because a security key left in the machine must not be enough to move
 * money.
 */

import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'

/** The library is loaded on first use, to keep start-up fast. */
const library = () => import('@simplewebauthn/server')

const USER_VERIFICATION = 'required'
/** EdDSA, ES256 and RS256 (COSE): every device supports one of them. */
const ALGORITHMS = [-8, -7, -257]

export interface RelyingParty {
  readonly name: string
  /** Host of our pages; passkeys work only there. */
  readonly id: string
  readonly origin: string
}

/** Null where browsers allow no passkeys: at bare IP addresses, and without TLS except on localhost. */
export function relyingPartyOf({
  publicUrl,
  serviceName,
}: {
  readonly publicUrl: string
  readonly serviceName: string
}): RelyingParty | null {
  const { protocol, hostname, origin } = new URL(publicUrl)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isIP(hostname) !== 0 || hostname.startsWith('[')) return null
  return protocol === 'https:' || isLocal ? { name: serviceName, id: hostname, origin } : null
}

export interface KnownPasskey {
  readonly credentialId: Buffer
  readonly transports: readonly string[]
}

export interface StoredPasskey extends KnownPasskey {
  readonly publicKey: Buffer
}

interface Ceremony {
  readonly party: RelyingParty
  readonly timeoutMs: number
  readonly challenge: Buffer<ArrayBuffer>
}

const listed = ({ credentialId, transports }: KnownPasskey) => ({
  id: credentialId.toString('base64url'),
  transports: [...transports],
})

/** Options for `navigator.credentials.create`. Devices that already have one of the known passkeys refuse to add another. */
export async function creationOptions(
  { party, timeoutMs, challenge }: Ceremony,
  { accountId, email }: { readonly accountId: number; readonly email: string },
  known: readonly KnownPasskey[],
): Promise<object> {
  const { generateRegistrationOptions } = await library()
  return generateRegistrationOptions({
    rpName: party.name,
    rpID: party.id,
    userName: email,
    userDisplayName: email,
    // The same for all passkeys of the account, and hashed, so that it does not reveal the account number.
    userID: Buffer.from(createHash('sha256').update(`passkeys of account ${accountId}`).digest()),
    challenge,
    timeout: timeoutMs,
    attestationType: 'none',
    excludeCredentials: known.map(listed),
    // `preferred` lets phones keep the passkey in their backup.
    authenticatorSelection: { residentKey: 'preferred', userVerification: USER_VERIFICATION },
    supportedAlgorithmIDs: ALGORITHMS,
  })
}

/** Options for `navigator.credentials.get`. */
export async function requestOptions(
  { party, timeoutMs, challenge }: Ceremony,
  known: readonly KnownPasskey[],
): Promise<object> {
  const { generateAuthenticationOptions } = await library()
  return generateAuthenticationOptions({
    rpID: party.id,
    challenge,
    timeout: timeoutMs,
    allowCredentials: known.map(listed),
    userVerification: USER_VERIFICATION,
  })
}

export interface NewPasskey extends StoredPasskey {
  readonly signCount: number
}

const TRANSPORTS_MAX = 10

/** Returns the new passkey; null if the answer is malformed, belongs to another challenge or comes from another site. */
export async function verifyCreation(
  party: RelyingParty,
  challenge: string,
  answer: string,
): Promise<NewPasskey | null> {
  const { verifyRegistrationResponse } = await library()
  try {
    const response = JSON.parse(answer) as RegistrationResponseJSON
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return null
    const { id, publicKey, counter } = registrationInfo.credential
    const transports: readonly unknown[] = Array.isArray(response.response.transports)
      ? response.response.transports
      : []
    return {
      credentialId: Buffer.from(id, 'base64url'),
      publicKey: Buffer.from(publicKey),
      signCount: counter,
      transports: transports.filter(isTransport).slice(0, TRANSPORTS_MAX),
    }
  } catch {
    // The library throws for every invalid response.
    return null
  }
}

function isTransport(text: unknown): text is string {
  return typeof text === 'string' && /^[a-z-]{1,15}$/.test(text)
}

/** The id of the passkey that the answer claims to be signed with; null if the answer is unreadable. */
export function credentialIdOf(answer: string): Buffer | null {
  try {
    const { id } = JSON.parse(answer) as { id?: unknown }
    return typeof id === 'string' && /^[\w-]{1,1400}$/.test(id) ? Buffer.from(id, 'base64url') : null
  } catch {
    return null
  }
}

/** Returns the device's signature count; null if this passkey did not sign the answer or the answer is malformed. */
export async function verifySignature(
  party: RelyingParty,
  { credentialId, publicKey }: StoredPasskey,
  { challenge, answer }: { readonly challenge: string; readonly answer: string },
): Promise<number | null> {
  const { verifyAuthenticationResponse } = await library()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: JSON.parse(answer) as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: party.origin,
      expectedRPID: party.id,
      // 0 switches off the library's own check. The database compares the counters as it stores them, so that two concurrent
      // answers cannot both pass.
      credential: { id: credentialId.toString('base64url'), publicKey: new Uint8Array(publicKey), counter: 0 },
      requireUserVerification: true,
    })
    return verified ? authenticationInfo.newCounter : null
  } catch {
    return null
  }
}
