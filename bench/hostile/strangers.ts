/** The most expensive requests that need no API key: pages, forms, notifications of banks, and calls with a wrong key. */

import { bodyOf, FILLINGS, PATHS } from './bodies.ts'

export interface HostileRequest {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Null: a GET. */
  readonly body: Buffer | null
}

/** Environment variables for an account whose transfers three services report. */
export const BANKS = {
  BANK_BIN: '970436',
  BANK_ACCOUNT: '0071000123456',
  BANK_ACCOUNT_NAME: 'CONG TY SVC',
  SEPAY_WEBHOOK_SECRET: 'not the secret of anybody',
  PAYOS_CHECKSUM_KEY: 'not the secret of anybody',
  CASSO_CHECKSUM_KEY: 'not the secret of anybody',
}

/** A little below the largest header section, form and notification that the gateway reads. */
const HEADER_BYTES = 15_000
const FORM_BYTES = 64 * 1024 - 100
const NOTIFICATION_BYTES = 256 * 1024 - 100

const JSON_TYPE = { 'content-type': 'application/json' }
const PAGE = { accept: 'text/html', 'accept-language': 'vi' }

/** Fills `bytes` with the text, over and over. */
function full(bytes: number, text: string): string {
  return text.repeat(Math.floor(bytes / text.length))
}

function page(path: string, headers: Readonly<Record<string, string>> = {}): () => HostileRequest {
  return () => ({ path, headers: { ...PAGE, ...headers }, body: null })
}

/** Only forms from the site's own pages are read. */
function form(path: string, body: string): (origin: string) => HostileRequest {
  const type = 'application/x-www-form-urlencoded'
  return origin => ({ path, headers: { ...PAGE, origin, 'content-type': type }, body: Buffer.from(body) })
}

function notification(service: string, body: string): () => HostileRequest {
  const headers = { ...JSON_TYPE, 'x-casso-signature': `t=${Date.now()},v1=${'a'.repeat(128)}` }
  return () => ({ path: `/webhooks/bank/${service}`, headers, body: Buffer.from(body) })
}

const MANY_KEYS = `{${Array.from({ length: NOTIFICATION_BYTES / 12 }, (_, index) => `"k${index}":1`).join(',')}}`
const DEEP = `{"data":${'['.repeat(NOTIFICATION_BYTES / 2 - 20)}${']'.repeat(NOTIFICATION_BYTES / 2 - 20)}}`

/** Requests by name, made for the gateway's own address. */
export const STRANGERS: Readonly<Record<string, (origin: string) => HostileRequest>> = {
  'call with a wrong key': () => ({
    path: PATHS.messages,
    headers: { ...JSON_TYPE, 'x-api-key': 'sk-svc-wrong' },
    body: bodyOf('messages', 'claude-opus-5', FILLINGS.escapes?.() ?? ''),
  }),
  'call with a long key': () => ({
    path: PATHS.messages,
    headers: { ...JSON_TYPE, 'x-api-key': `sk-svc-${full(HEADER_BYTES, 'a')}` },
    body: Buffer.from('{}'),
  }),
  'page, unknown': page(`/${full(HEADER_BYTES, '%20')}`),
  'page with cookies': page('/', { cookie: full(HEADER_BYTES, 'a=;') }),
  'page of models, a search': page(`/models?q=${full(80, 'claude opsu ')}`),
  'page of models, many fields': page(`/models?${full(HEADER_BYTES, 'a&')}`),
  'page of models, one field': page(`/models?q=${full(HEADER_BYTES, '%41')}`),
  'page of a model, unknown': page(`/models/${full(HEADER_BYTES, 'a')}`),
  'page that compares': page(`/compare?${full(HEADER_BYTES, 'model=opus&')}`),
  'page of the quick start': page(`/quickstart?${full(HEADER_BYTES, 'tool&')}`),
  'page of the reference': page('/reference'),
  'page of the document of the API': page('/openapi.json'),
  'page for search engines': page('/sitemap.xml'),
  'list of models': () => ({ path: `/v1/models?${full(HEADER_BYTES, 'a&')}`, headers: {}, body: null }),
  'form, many fields': form('/signin', full(FORM_BYTES, 'a&')),
  'form, escapes': form('/register', `email=${full(FORM_BYTES, '%00')}&password=x`),
  'form, long address': form('/forgot', `email=${full(FORM_BYTES, 'a.')}@example.com`),
  'form, one field': form('/signin', `email=${full(FORM_BYTES, 'a')}`),
  'notification, many keys, payos': notification('payos', `{"data":${MANY_KEYS},"signature":"x"}`),
  'notification, many keys, casso': notification('casso', `{"data":${MANY_KEYS}}`),
  'notification, many keys, sepay': notification('sepay', MANY_KEYS),
  'notification, nested, payos': notification('payos', DEEP),
  'notification, nested, casso': notification('casso', DEEP),
}
