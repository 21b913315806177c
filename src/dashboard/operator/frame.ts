/** Shared by all operator pages: the navigation, notices, links between pages of a search, and the acting operator. */

import type { Actor } from '../../accounts/operator-log.ts'
import { mayDo, type OperatorNeed } from '../../accounts/roles.ts'
import { type SearchPage, writePlace } from '../../lib/search.ts'
import { type PageAnswer, type PageRequest, signedIn } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { time } from '../view/format.ts'

/** `needs` repeats the permission that the tab's page declares. */
export const TABS = [
  { tab: 'home', path: '/operator', needs: 'read' },
  { tab: 'calls', path: '/operator/calls', needs: 'read' },
  { tab: 'accounts', path: '/operator/accounts', needs: 'read' },
  { tab: 'transfers', path: '/operator/transfers', needs: 'read' },
  { tab: 'orders', path: '/operator/orders', needs: 'read' },
  { tab: 'business', path: '/operator/business', needs: 'business' },
  { tab: 'upstreams', path: '/operator/upstreams', needs: 'read' },
  { tab: 'models', path: '/operator/models', needs: 'read' },
  { tab: 'log', path: '/operator/log', needs: 'read' },
  { tab: 'banner', path: '/operator/banner', needs: 'operations' },
  { tab: 'team', path: '/operator/team', needs: 'team' },
] as const satisfies readonly { tab: string; path: string; needs: OperatorNeed }[]

export type OperatorTab = (typeof TABS)[number]['tab']

const NOTICES = [
  ...['adjusted', 'adjusted_before', 'blocked', 'unblocked', 'assigned', 'settled', 'entered', 'conflict'],
  ...['role', 'factor', 'refunded', 'refunded_before', 'upstream_out', 'upstream_in'],
  ...['noted', 'limited', 'revoked', 'gone', 'signed_out'],
  ...['banner'],
] as const

export const REASON_CHARACTERS_MAX = 300

export function operatorPage(
  { language, query, session }: PageRequest,
  template: string,
  tab: OperatorTab,
  data: Readonly<Record<string, unknown>>,
  status = 200,
): PageAnswer {
  const done = query.choice('done', NOTICES)
  return {
    kind: 'page',
    template,
    title: text(language, `operator.nav.${tab}`),
    section: 'operator',
    styles: ['operator.css'],
    status,
    data: {
      tabs: TABS.filter(({ needs }) => mayDo(session?.role ?? null, needs)).map(each => ({
        path: each.path,
        label: text(language, `operator.nav.${each.tab}`),
        isHere: each.tab === tab,
      })),
      notice: done === null ? null : text(language, `operator.done.${done}`),
      ...data,
    },
  }
}

/**
 * Returns the link to the next page of a search (null after the last page): as `more` if this page is full, or in `further` if
 * the search stopped at its limit of rows to compare. `further` also has a note that says how far back the search got.
 */
export function searchLinks(
  { query, language }: PageRequest,
  { next, comparedTo }: Pick<SearchPage, 'next' | 'comparedTo'>,
  { path, anchor, note }: { readonly path: string; readonly anchor: string; readonly note: TextKey },
) {
  const link = next === null ? null : `${path}${query.with({ before: writePlace(next) })}${anchor}`
  return comparedTo === null
    ? { more: link, further: null }
    : { more: null, further: { link, note: text(language, note, { time: time(comparedTo) }) } }
}

/** Path of the list of calls that asked for a model by this name. */
export function callsAsked(name: string): string {
  return `/operator/calls?asked=${encodeURIComponent(name)}`
}

export function actorOf(request: PageRequest): Actor {
  const { accountId, email } = signedIn(request)
  return { accountId, name: email }
}
