/** Checks the settings in upstreams.yaml that affect every request: address, authentication, headers, body members, waits. */

import { ENDPOINT_FACTS } from '../../src/catalogue/endpoints.ts'
import { asList, asNumber, asRecord, asText, type CatalogueView, type HostView, type Report } from '../view.ts'
import { BILLED, CHOICES, OUTPUT_CAPS } from './rules.ts'

export function checkConnections(view: CatalogueView, report: Report): void {
  for (const host of view.hosts.values()) {
    checkAddress(host, report)
    checkQueries(host, report)
    checkAuth(host, report)
    checkHeaders(host, report)
    checkFields(host, report)
    checkWaits(host, report)
  }
}

const PORT_MAX = 65_535

function checkAddress(host: HostView, report: Report): void {
  const url = asText(host.value.base_url)
  const port = Number(/:([0-9]+)(\/|$)/.exec(url.slice('https://'.length))?.[1] ?? 1)
  if (port < 1 || port > PORT_MAX) {
    report(host, ['base_url'], 'bad-form', `${port} is not a port`, `write one from 1 to ${PORT_MAX}, or leave it out`)
  }
  const base = url.split('/').slice(3)
  const isModelInPath = host.value.wire === 'bedrock'
  const seen = new Map<unknown, string>()
  for (const [endpoint, path] of Object.entries(asRecord(host.value.paths))) {
    const other = seen.get(path)
    seen.set(path, endpoint)
    if (other !== undefined && !(isOfImages(endpoint) && isOfImages(other))) {
      const message = `"${endpoint}" has the path of "${other}"`
      report(
        host,
        ['paths', endpoint],
        'path-repeated',
        message,
        'write the path of this format, or leave the line out',
      )
    }
    const doubled = doubledPart(base, asText(path).split('/').slice(1))
    if (doubled !== '') {
      const message = `the address ends with "${doubled}", and the path begins with it`
      report(host, ['paths', endpoint], 'path-doubled', message, 'leave it out of one of the two')
    }
    if (isModelInPath && !asText(path).includes('{model}')) {
      const message = 'the wire "bedrock" names the model in the path'
      report(host, ['paths', endpoint], 'bad-form', message, 'write it with {model}, e.g. "/model/{model}/invoke"')
    }
  }
}

/** Fields of a query that carry a credential with some providers, beside those that headers carry, too. */
const QUERY_CREDENTIAL = /^(key|token|code|sig|subscription-key)$/

function checkQueries(host: HostView, report: Report): void {
  for (const [endpoint, path] of Object.entries(asRecord(host.value.paths))) {
    const query = asText(path).split('?')[1]
    if (query === undefined) continue
    const at = ['paths', endpoint]
    const name = [...new URLSearchParams(query).keys()].find(
      key => QUERY_CREDENTIAL.test(key) || CREDENTIAL_NAME.test(key),
    )
    if (name !== undefined) {
      const fix = `leave it out and set ${keyVariable(host)} in the environment; \`auth\` says which header carries it`
      report(host, at, 'credential', `"${name}" carries a credential`, fix)
    }
    if (host.value.wire !== 'bedrock' && asRecord(host.value.auth).scheme !== 'sigv4') continue
    report(host, at, 'bad-form', 'AWS takes no query in a path', `write ${asText(path).split('?')[0]}`)
  }
}

function keyVariable({ id }: HostView): string {
  return `UPSTREAM_${id.toUpperCase().replaceAll('-', '_')}_API_KEY`
}

/** Requests for new and for edited images differ in their fields alone, so a provider may take both at one path. */
function isOfImages(endpoint: string): boolean {
  return endpoint.startsWith('images_')
}

/** The longest suffix of `base` that is also a prefix of `path`, as a path such as `/v1`; '' if there is none. */
function doubledPart(base: readonly string[], path: readonly string[]): string {
  for (let length = Math.min(base.length, path.length); length > 0; length--) {
    const end = base.slice(-length).join('/')
    if (end !== '' && end === path.slice(0, length).join('/')) return `/${end}`
  }
  return ''
}

/** Rejects settings that the host's authentication scheme ignores, because readers would expect them to apply. */
function checkAuth(host: HostView, report: Report): void {
  const { scheme, header, region } = asRecord(host.value.auth)
  if (typeof scheme !== 'string') return
  if (header !== undefined && scheme !== 'header') {
    const fix = 'leave `header` out, or write `scheme: header`'
    report(host, ['auth', 'header'], 'auth-incomplete', `the scheme "${scheme}" has its own header`, fix, 'key')
  }
  const isNamed = asText(host.value.base_url).includes('{region}')
  if (region !== undefined && scheme !== 'sigv4' && !isNamed) {
    const fix = 'leave `region` out, or write {region} in the address'
    report(host, ['auth', 'region'], 'auth-incomplete', `the scheme "${scheme}" does not use a region`, fix, 'key')
  }
}

/** Matches names of headers and body members that carry credentials, which must come from the environment instead. */
const CREDENTIAL_NAME =
  /^(proxy-)?authorization$|^cookie$|(^|[-_])(api|access|auth)[-_]?(key|token)$|[-_](secret|password)$/
/** Headers that the HTTP client or the gateway sets itself. */
const RESERVED = new Set([
  'accept',
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'host',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

function checkHeaders(host: HostView, report: Report): void {
  for (const kind of ['headers', 'fields'] as const) {
    for (const name of Object.keys(asRecord(host.value[kind]))) {
      if (CREDENTIAL_NAME.test(name)) {
        const fix = `leave it out and set ${keyVariable(host)} in the environment`
        report(host, [kind, name], 'credential', `"${name}" carries a credential`, fix, 'key')
      } else if (kind === 'headers' && RESERVED.has(name)) reportReserved(name, ['headers', name])
    }
  }
  const fromClients = asList(host.value.forward_headers).map(
    (name, index) => [['forward_headers', index], name] as const,
  )
  for (const [at, name] of [...fromClients, [['betas', 'header'], asRecord(host.value.betas).header] as const]) {
    if (CREDENTIAL_NAME.test(String(name))) {
      const message = `"${String(name)}" would send the client's own key to the provider`
      report(
        host,
        at,
        'credential',
        message,
        at[0] === 'betas' ? 'name the header that lists the flags' : 'leave it out',
      )
    } else if (RESERVED.has(String(name))) reportReserved(String(name), at)
    else if (Object.hasOwn(asRecord(host.value.headers), String(name))) {
      const message = `"${String(name)}" has a value under \`headers\`, and clients would send another`
      report(host, at, 'header-reserved', message, 'keep one of the two')
    } else if (at[0] === 'forward_headers' && name === asRecord(host.value.betas).header) {
      const message = `"${String(name)}" carries the beta flags (\`betas\`), and would also pass those that may not`
      report(host, at, 'header-reserved', message, 'leave it out')
    }
  }
  const ofKey = asRecord(host.value.auth).header
  if (typeof ofKey !== 'string') return
  if (RESERVED.has(ofKey)) reportReserved(ofKey, ['auth', 'header'], "name the provider's own header")
  const others: readonly (readonly [readonly (string | number)[], unknown])[] = [
    ...Object.keys(asRecord(host.value.headers)).map(name => [['headers', name], name] as const),
    ...fromClients,
    [['betas', 'header'], asRecord(host.value.betas).header],
  ]
  for (const [at, name] of others) {
    if (name !== ofKey) continue
    report(host, at, 'header-reserved', `"${ofKey}" carries the credential (\`auth\`)`, 'keep one of the two')
  }

  function reportReserved(name: string, at: readonly (string | number)[], fix = 'leave it out'): void {
    report(host, at, 'header-reserved', `"${name}" is set by the gateway`, fix, 'key')
  }
}

function checkFields(host: HostView, report: Report): void {
  const needed = Object.values(ENDPOINT_FACTS).flatMap(({ needs }): readonly string[] => needs)
  for (const name of Object.keys(asRecord(host.value.fields))) {
    const pointer = `/${name}`
    const isBilled = [...BILLED, CHOICES, ...OUTPUT_CAPS].includes(pointer)
    if (!isBilled && !needed.includes(pointer)) continue
    const message = isBilled ? `"${name}" is billed or metered` : `"${name}" would be the same in every call`
    report(host, ['fields', name], 'field-billed', message, 'leave it out', 'key')
  }
}

/** The schema's defaults for `cooldown`. */
const COOLDOWN = { base_ms: 10_000, max_ms: 300_000 }

function checkWaits(host: HostView, report: Report): void {
  const timeouts = asRecord(host.value.timeouts)
  const total = asNumber(timeouts.total_ms)
  for (const key of ['connect_ms', 'first_byte_ms', 'idle_ms']) {
    const wait = asNumber(timeouts[key])
    if (wait === undefined || total === undefined || wait <= total) continue
    const message = `${key} is ${wait}, above total_ms ${total}`
    report(host, ['timeouts', key], 'out-of-range', message, `write at most ${total} ms, or raise total_ms`)
  }
  const cooldown = asRecord(host.value.cooldown)
  const base = asNumber(cooldown.base_ms) ?? COOLDOWN.base_ms
  const longest = asNumber(cooldown.max_ms) ?? COOLDOWN.max_ms
  if (base > longest) {
    const key = cooldown.base_ms === undefined ? 'max_ms' : 'base_ms'
    const message = `base_ms is ${base}, above max_ms ${longest}`
    report(host, ['cooldown', key], 'out-of-range', message, 'write a longer max_ms, or a shorter base_ms')
  }
}
