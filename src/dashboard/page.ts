/** A page is a row of a table: where it is, who may see it, and a function from a request to an answer. Both are plain data. */

import type { Readable } from 'node:stream'
import type { OperatorNeed } from '../accounts/roles.ts'
import type { Language, OpenedSession, Session, Visitor } from '../accounts/types.ts'
import type { RouteFacts } from '../lib/route.ts'
import type { Form } from './form.ts'
import type { DashboardOptions } from './options.ts'
import type { TextKey } from './texts/index.ts'

/** What a page asks of its request. */
export interface PageRequest {
  readonly options: DashboardOptions
  readonly language: Language
  readonly visitor: Visitor
  /** Who has signed in; never null on pages of class `session` and `operator`, see `signedIn`. */
  readonly session: Session | null
  readonly method: 'GET' | 'POST'
  /** Path without the query. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: Form
  /** Empty on GET. */
  readonly form: Form
  /** htmx asks for a part of the page. */
  /** Somebody at this machine asks; see `guard.ts`. */
  readonly isLocal: boolean
  readonly isFragment: boolean
  readonly now: Date
}

export interface PageAnswer {
  readonly kind: 'page'
  readonly template: string
  /** Title of the document, already in the language of the request. */
  readonly title: string
  readonly data: Readonly<Record<string, unknown>>
  readonly status?: number
  /** Main navigation entry that the page belongs to. */
  readonly section?: Section
  /** Further scripts, by the names of assets. */
  readonly scripts?: readonly string[]
  readonly styles?: readonly string[]
  /** Search engines may list it. */
  readonly indexed?: boolean
  /** It shows a secret: it is neither compressed nor kept by the browser's history cache. */
  readonly secret?: boolean
}

/** A part of a page, without the frame. */
export interface FragmentAnswer {
  readonly kind: 'fragment'
  readonly template: string
  readonly data: Readonly<Record<string, unknown>>
  readonly status?: number
  readonly secret?: boolean
}

export interface RedirectAnswer {
  readonly kind: 'redirect'
  /** A path of ours. */
  readonly to: string
  /** A session to begin, or `end` to forget the present one. */
  readonly session?: OpenedSession | 'end'
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
  readonly body: Readable | string
  /** Name for the download; absent: shown in place. */
  readonly fileName?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Answer = PageAnswer | FragmentAnswer | RedirectAnswer | ProblemAnswer | FileAnswer

export type Section =
  | 'overview'
  | 'keys'
  | 'usage'
  | 'topup'
  | 'models'
  | 'quickstart'
  | 'reference'
  | 'account'
  | 'operator'

interface PageFacts extends RouteFacts {
  /** Programs call this path too and get JSON there: the page is for requests that want HTML and carry no API key. */
  readonly sharesPath?: true
  readonly handle: (request: PageRequest) => Answer | Promise<Answer>
}

export interface OperatorPage extends PageFacts {
  readonly authentication: 'operator'
  /** What its operator's role must grant; see `accounts/roles.ts`. */
  readonly needs: OperatorNeed
}

export type Page = OperatorPage | (PageFacts & { readonly authentication: 'none' | 'session' | 'development' })

/** The session of a page that needs one. */
export function signedIn(request: PageRequest): Session {
  if (request.session === null) throw new Error(`${request.path} was reached without a session`)
  return request.session
}

export const NOT_FOUND: ProblemAnswer = { kind: 'problem', status: 404 }

/** A positive whole number of the path, or null: ids of nobody are like ids that do not exist. */
export function idOf(text: string | undefined): number | null {
  return text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : null
}
