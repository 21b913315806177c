/**
 * A minimal headless browser: keeps cookies, submits forms as our pages would, and reads pages and emails as a person would.
 */

import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { expect } from 'vitest'
import { readOutbox } from '../../src/lib/outbox.ts'

export interface PageReply {
  readonly status: number
  readonly headers: Headers
  readonly html: string
  /** The path to which a redirect leads. */
  readonly location: string
}

export interface SignedUp {
  readonly email: string
  readonly password: string
}

export type MailedPath = '/verify' | '/reset' | '/account/email/confirm' | '/signin/link/confirm'

export const PASSWORD = 'mot cau dai de nho'

const MAIL_MS_MAX = 60_000

export class Visitor {
  readonly #base: string
  /** The `Origin` header sent with forms. */
  readonly #origin: string
  readonly #outbox: string | null
  readonly #jar = new Map<string, string>()
  readonly headers: Record<string, string> = { accept: 'text/html', 'accept-language': 'en' }

  /** With `dataDir`, emails are read from that folder's outbox, for gateways that have no page showing sent emails. */
  constructor(base: string, { dataDir, origin }: { readonly dataDir?: string; readonly origin?: string } = {}) {
    this.#base = base
    this.#origin = origin ?? base
    this.#outbox = dataDir === undefined ? null : join(dataDir, 'outbox')
  }

  get cookie(): string {
    return [...this.#jar].map(pair => pair.join('=')).join('; ')
  }

  set cookie(text: string) {
    this.#jar.clear()
    for (const pair of text.split('; ').filter(Boolean)) {
      const [name = '', value = ''] = pair.split('=')
      this.#jar.set(name, value)
    }
  }

  get(path: string, headers: Record<string, string> = {}): Promise<PageReply> {
    return this.#send(path, { headers })
  }

  head(path: string, headers: Record<string, string> = {}): Promise<PageReply> {
    return this.#send(path, { method: 'HEAD', headers })
  }

  /** Submits a form as our pages would. An empty header, such as `origin: ''`, is left out. */
  post(path: string, form: Record<string, string> = {}, headers: Record<string, string> = {}): Promise<PageReply> {
    const given = { origin: this.#origin, 'content-type': 'application/x-www-form-urlencoded', ...headers }
    const kept = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
    return this.#send(path, { method: 'POST', headers: kept, body: new URLSearchParams(form).toString() })
  }

  async #send(path: string, init: RequestInit & { headers: Record<string, string> }): Promise<PageReply> {
    const headers = { ...this.headers, cookie: this.cookie, ...init.headers }
    const response = await fetch(this.#base + path, { ...init, headers, redirect: 'manual' })
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';')
      const [name = '', value = ''] = pair.split('=')
      if (value === '') this.#jar.delete(name)
      else this.#jar.set(name, value)
    }
    const location = response.headers.get('location') ?? ''
    return { status: response.status, headers: response.headers, html: await response.text(), location }
  }

  /** The newest link of this kind in an email. Waits for it to arrive, because some emails are sent after the reply. */
  async mailedLink(kind: MailedPath, email: string): Promise<string> {
    const lateMs = performance.now() + MAIL_MS_MAX
    do {
      const link =
        this.#outbox === null ? await this.#shownLink(kind, email) : await sentLink(this.#outbox, kind, email)
      if (link !== undefined) return link
      await setTimeout(25)
    } while (performance.now() < lateMs)
    throw new Error(`no email with a link to ${kind} arrived for ${email}`)
  }

  async #shownLink(kind: string, email: string): Promise<string | undefined> {
    const { html } = await this.get('/development/outbox')
    const mail = html.split('<article').find(part => part.includes(email) && part.includes(`href="${kind}?`))
    const link = new RegExp(`href="(${kind}\\?[^"]+)"`).exec(mail ?? '')?.[1]
    return link?.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=')
  }

  async signUp(email: string, password = PASSWORD): Promise<SignedUp> {
    expect((await this.post('/register', { email, password })).location).toBe('/register/sent')
    const token = new URL(`http://x${await this.mailedLink('/verify', email)}`).searchParams.get('token') as string
    expect((await this.post('/verify', { token, password })).location).toBe('/overview')
    return { email, password }
  }

  /** Creates a top-up order that waits for its transfer, and returns its path. */
  async order(amount: string): Promise<string> {
    const { location } = await this.post('/topup', { amount })
    expect(location).toMatch(/^\/topup\/ST/)
    return location
  }

  /** Creates a top-up order, pays it at once, and returns its path. */
  async topUp(amount: string): Promise<string> {
    const location = await this.order(amount)
    expect((await this.post(`${location}/simulate`)).status).toBe(303)
    return location
  }

  async createKey(label: string): Promise<{ key: string; path: string }> {
    const { html, status } = await this.post('/keys', { label, submission: crypto.randomUUID() })
    expect(status).toBe(200)
    const key = /sk-svc-[\w-]+/.exec(html)?.[0] as string
    const list = await this.get('/keys')
    const path = new RegExp(`href="(/keys/\\d+)">${label}<`).exec(list.html)?.[1] as string
    return { key, path }
  }
}

async function sentLink(outbox: string, kind: string, email: string): Promise<string | undefined> {
  const mail = (await readOutbox(outbox)).find(({ to, text }) => to.includes(email) && text.includes(`${kind}?`))
  return new RegExp(`${kind}\\?\\S+`).exec(mail?.text ?? '')?.[0]
}

/** The text of a page as a person reads it. */
export function readable(html: string): string {
  return html
    .replace(/<(script|style)[\s\S]*?<\/\1>/g, ' ')
    .replace(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#x27;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&#x3D;', '=')
    .replaceAll('\u00a0', ' ')
    .replace(/\s+/g, ' ')
}

/** The text of an element, or the value of an attribute, with HTML escapes decoded. */
export function unescaped(html: string): string {
  return html.replaceAll('&quot;', '"').replaceAll('&#x27;', "'").replaceAll('&#x3D;', '=').replaceAll('&amp;', '&')
}
