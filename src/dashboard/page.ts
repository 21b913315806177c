/**
 * Types of the dashboard's pages. A page states its path, who may see it, and a function that turns a request into an answer.
 * Requests and answers are plain data.
 */

import type { Readable } from 'node:stream'
import type { OperatorNeed } from '../accounts/roles.ts'
import type { Language, OpenedSession, Session, Visitor } from '../accounts/types.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { Form } from './form.ts'
import type { DashboardOptions } from './options.ts'
import type { TextKey } from './texts/index.ts'

export interface PageRequest {
  readonly options: DashboardOptions
  readonly language: Language
  readonly visitor: Visitor
  /** The session of the signed-in person. Never null on pages that require a session or an operator; see `signedIn`. */
  readonly session: Session | null
  readonly method: 'GET' | 'POST'
  /** Path without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Form
  /** The submitted form; empty on GET. */
  readonly form: Form
  /** True if the request comes from this machine; see `guard.ts`. */
  readonly isLocal: boolean
  /** Token of the provider sign-in that this browser has started, if any; see `accounts/sign-in-attempts.ts`. */
  readonly attempt: string | null
  /** Path and query as the browser sent them. */
  readonly target: string
  /** True when a script of the page asks (htmx), not a visit. */
  readonly isScripted: boolean
  readonly now: Date
}

export interface PageAnswer {
  readonly kind: 'page'
  readonly template: string
  /** Document title, already in the request's language. */
  readonly title: string
  readonly data: Readonly<Record<string, unknown>>
  readonly status?: number
  /** Item of the main navigation that the page belongs to. */
  readonly section?: Section
  /** Names of script assets to load besides those of every page. */
  readonly scripts?: readonly string[]
  /** Names of script assets to load as ES modules. */
  readonly modules?: readonly string[]
  readonly styles?: readonly string[]
  /** Metadata for search engines. Without it, the page asks them not to index it. */
  readonly indexed?: Indexed | undefined
  /** True if the page shows a secret. It is then neither compressed nor kept in the browser's back-forward cache. */
  readonly secret?: boolean
}

/** Metadata for search engines and link previews. */
export interface Indexed {
  /** One or two sentences in the request's language. */
  readonly description: string
  /** Canonical path, for pages that have several; defaults to the request's path. */
  readonly path?: string
}

/** Tells the page's script that everything is as the page shows it. */
export interface UnchangedAnswer {
  readonly kind: 'unchanged'
}

export interface RedirectAnswer {
  readonly kind: 'redirect'
  /** A path of this site, or a sign-in provider's URL. */
  readonly to: string
  /** A session to start, or `end` to sign out. */
  readonly session?: OpenedSession | 'end'
  /** Token of a provider sign-in attempt for this browser to remember, or `end` to forget it. */
  readonly attempt?: string
}

export interface ProblemAnswer {
  readonly kind: 'problem'
  readonly status: 400 | 403 | 404 | 413 | 415 | 429 | 500 | 503
  readonly message?: TextKey
  readonly retryAfterSeconds?: number
}

export interface FileAnswer {
  readonly kind: 'file'
  readonly contentType: string
  readonly body: Readable | Buffer | string
  /** File name for the download; without one, the browser displays the file. */
  readonly fileName?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = PageAnswer | UnchangedAnswer | RedirectAnswer | ProblemAnswer | FileAnswer

export type Section =
  | 'overview'
  | 'keys'
  | 'usage'
  | 'topup'
  | 'playground'
  | 'models'
  | 'quickstart'
  | 'reference'
  | 'account'
  | 'operator'

interface PageFacts extends RouteFacts {
  /** API clients use the same path and get JSON. The page serves only requests that accept HTML and carry no API key. */
  readonly sharesPath?: true
  /** Accepts forms from other sites, because mail programs post to the page. The token in the URL authorizes them. */
  readonly fromAnywhere?: true
  readonly handle: (request: PageRequest) => Answer | Promise<Answer>
}

export interface OperatorPage extends PageFacts {
  readonly authentication: 'operator'
  /** What the operator's role must allow; see `accounts/roles.ts`. */
  readonly needs: OperatorNeed
}

interface PersonPage extends PageFacts {
  readonly authentication: 'session'
  /** Also open to people who have not entered their second factor yet. */
  readonly beforeFactor?: true
}

export type Page = OperatorPage | PersonPage | (PageFacts & { readonly authentication: 'none' | 'development' })

/** The session, on a page that requires one. */
export function signedIn(request: PageRequest): Session {
  if (request.session === null) throw new Error(`${request.path} was reached without a session`)
  return request.session
}

export const NOT_FOUND: ProblemAnswer = { kind: 'problem', status: 404 }

/** A positive whole number in the path, or null: malformed ids are treated like unknown ones. */
export function idOf(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}
