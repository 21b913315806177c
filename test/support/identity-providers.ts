/**
 * Stand-ins for Google and GitHub as sign-in providers, run as local HTTP servers. They check what the gateway sends, and tests
 * can make them send false or forged data.
 */

import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export const CLIENT = { id: 'client-of-the-gateway', secret: 'a-secret-of-the-client' } as const

/** A person with an account at the provider. */
export interface Person {
  readonly id: string
  readonly email?: string
  readonly isVerified?: boolean
  /** Google only: the person's Workspace domain. */
  readonly hd?: string
  /** GitHub only: all addresses, if there is more than one. */
  readonly emails?: readonly { email: string; primary: boolean; verified: boolean }[]
}

export interface ProviderDouble {
  readonly url: string
  /** The person who is signed in at the provider. */
  person: Person
  /** Changes the query parameters that the provider adds when it redirects the browser to the gateway. */
  answer: (query: URLSearchParams) => void
  /** Changes the claims of an ID token before it is signed. */
  claims: (claims: Record<string, unknown>) => void
  /** Whether to sign ID tokens with a key that is not published. */
  forges: boolean
  /** Whether to answer every request with an error. */
  isDown: boolean
  /** The parameters of token requests, as received. */
  readonly tokenRequests: URLSearchParams[]
  /** Environment variables that make a gateway use this provider. */
  readonly environment: Readonly<Record<string, string>>
  /** Undoes all changes that a test has made to this stand-in. */
  restore(): void
  close(): Promise<void>
}

interface Granted {
  readonly query: URLSearchParams
  readonly person: Person
}

export async function startProvider(kind: 'google' | 'github'): Promise<ProviderDouble> {
  const own = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const forged = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const codes = new Map<string, Granted>()
  const tokens = new Map<string, Person>()
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    const json = (status: number, body: unknown): unknown => {
      return response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }
    if (double.isDown) return json(503, { error: 'temporarily_unavailable' })
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json(200, {
          issuer: url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          jwks_uri: `${url}/jwks`,
          userinfo_endpoint: `${url}/userinfo`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
          authorization_response_iss_parameter_supported: true,
        })
      case '/jwks':
        return json(200, {
          keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'own', use: 'sig', alg: 'RS256' }],
        })
      case '/authorize':
      case '/login/oauth/authorize':
        return authorize(searchParams, response)
      case '/token':
      case '/login/oauth/access_token':
        return exchange(await bodyOf(request), request, json)
      case '/user':
      case '/user/emails': {
        const person = tokens.get((request.headers.authorization ?? '').replace(/^bearer /i, ''))
        if (person === undefined || request.headers['user-agent'] === undefined) return json(401, {})
        const { id, email = null, isVerified = true } = person
        const emails = person.emails ?? (email === null ? [] : [{ email, primary: true, verified: isVerified }])
        return json(200, pathname === '/user' ? { id: Number(id), login: 'somebody', email } : emails)
      }
      default:
        return json(404, {})
    }
  })

  function authorize(query: URLSearchParams, response: ServerResponse): unknown {
    const isWhole =
      query.get('client_id') === CLIENT.id &&
      query.get('response_type') === 'code' &&
      query.get('code_challenge_method') === 'S256' &&
      (query.get('state') ?? '').length >= 32 &&
      (kind === 'github' || (query.get('nonce') ?? '').length >= 32)
    if (!isWhole) return response.writeHead(400).end('the request lacks a parameter')
    const code = randomUUID()
    codes.set(code, { query, person: double.person })
    const back = new URLSearchParams({ code, state: query.get('state') as string })
    back.set('iss', kind === 'google' ? url : `${url}/login/oauth`)
    double.answer(back)
    return response.writeHead(302, { location: `${query.get('redirect_uri')}?${back}` }).end()
  }

  function exchange(
    form: URLSearchParams,
    request: IncomingMessage,
    json: (status: number, body: unknown) => unknown,
  ): unknown {
    double.tokenRequests.push(form)
    const granted = codes.get(form.get('code') ?? '')
    codes.delete(form.get('code') ?? '')
    const [, basic = ''] = /^Basic (.+)$/.exec(request.headers.authorization ?? '') ?? []
    const secret = form.get('client_secret') ?? Buffer.from(basic, 'base64').toString().split(':')[1]
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const isGood =
      granted !== undefined &&
      secret === CLIENT.secret &&
      granted.query.get('code_challenge') === challenge &&
      granted.query.get('redirect_uri') === form.get('redirect_uri')
    if (!isGood) return json(kind === 'github' ? 200 : 400, { error: 'invalid_grant' })
    const accessToken = randomUUID()
    tokens.set(accessToken, granted.person)
    const token = { access_token: accessToken, token_type: 'bearer', scope: granted.query.get('scope') }
    if (kind === 'github') return json(200, token)
    const { id, email, isVerified = true, hd } = granted.person
    const now = Math.floor(Date.now() / 1000)
    const claims: Record<string, unknown> = {
      ...{ iss: url, aud: CLIENT.id, sub: id, iat: now, exp: now + 3600, nonce: granted.query.get('nonce') },
      ...(email !== undefined && { email, email_verified: isVerified }),
      ...(hd !== undefined && { hd }),
    }
    double.claims(claims)
    const key = double.forges ? forged.privateKey : own.privateKey
    return json(200, { ...token, expires_in: 3600, id_token: jwt(claims, key) })
  }

  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const prefix = `SIGN_IN_${kind.toUpperCase()}`
  const double: ProviderDouble = {
    url,
    person: { id: '1' },
    answer: () => {},
    claims: () => {},
    forges: false,
    isDown: false,
    tokenRequests: [],
    environment: {
      [`${prefix}_CLIENT_ID`]: CLIENT.id,
      [`${prefix}_CLIENT_SECRET`]: CLIENT.secret,
      ...(kind === 'google'
        ? { SIGN_IN_GOOGLE_ISSUER: url }
        : { SIGN_IN_GITHUB_URL: url, SIGN_IN_GITHUB_API_URL: url }),
    },
    restore() {
      Object.assign(double, { answer: () => {}, claims: () => {}, forges: false, isDown: false })
    },
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
  return double
}

function jwt(claims: object, key: KeyObject): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part({ alg: 'RS256', kid: 'own', typ: 'JWT' })}.${part(claims)}`
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`
}

async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
  let text = ''
  for await (const chunk of request) text += chunk
  return new URLSearchParams(text)
}
