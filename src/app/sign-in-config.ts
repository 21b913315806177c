/** Environment settings for signing in with Google and GitHub; each is off unless its client id and secret are set. */

interface Reader {
  readonly faults: string[]
  text(name: string): string | null
  url(name: string, protocols: readonly string[]): string | null
}

interface Client {
  readonly clientId: string
  readonly clientSecret: string
}

export interface SignInConfig {
  /** Null when signing in with Google is off. */
  readonly google: (Client & { readonly issuer: string }) | null
  readonly github: (Client & { readonly url: string; readonly apiUrl: string }) | null
}

const KNOWN: ReadonlySet<string> = new Set([
  ...['SIGN_IN_GOOGLE_CLIENT_ID', 'SIGN_IN_GOOGLE_CLIENT_SECRET', 'SIGN_IN_GOOGLE_ISSUER'],
  ...['SIGN_IN_GITHUB_CLIENT_ID', 'SIGN_IN_GITHUB_CLIENT_SECRET', 'SIGN_IN_GITHUB_URL', 'SIGN_IN_GITHUB_API_URL'],
])

/** Reads the settings and collects faults in `reader`. `names` lists the variables that are set. */
export function readSignIn(reader: Reader, names: Iterable<string>, production: boolean): SignInConfig {
  for (const name of names) {
    if (!name.startsWith('SIGN_IN_') || KNOWN.has(name)) continue
    reader.faults.push(`${name} is not read by this gateway; it reads ${[...KNOWN].sort().join(', ')}`)
  }
  const protocols = production ? ['https:'] : ['https:', 'http:']
  const google = readClient(reader, 'SIGN_IN_GOOGLE')
  const github = readClient(reader, 'SIGN_IN_GITHUB')
  const issuer = reader.url('SIGN_IN_GOOGLE_ISSUER', protocols) ?? 'https://accounts.google.com'
  const url = reader.url('SIGN_IN_GITHUB_URL', protocols) ?? 'https://github.com'
  const apiUrl = reader.url('SIGN_IN_GITHUB_API_URL', protocols) ?? 'https://api.github.com'
  return {
    google: google === null ? null : { ...google, issuer },
    github: github === null ? null : { ...github, url, apiUrl },
  }
}

function readClient(reader: Reader, prefix: string): Client | null {
  const [clientId, clientSecret] = [reader.text(`${prefix}_CLIENT_ID`), reader.text(`${prefix}_CLIENT_SECRET`)]
  if (clientId === null && clientSecret === null) return null
  if (clientId === null || clientSecret === null) {
    reader.faults.push(`${prefix}_CLIENT_ID and ${prefix}_CLIENT_SECRET belong together; set both or neither`)
    return null
  }
  return { clientId, clientSecret }
}
