/** What all operator pages share: their own navigation, and who acts. */

import type { Actor } from '../../accounts/operator-log.ts'
import { type PageAnswer, type PageRequest, signedIn } from '../page.ts'
import { text } from '../texts/index.ts'

const TABS = [
  { tab: 'home', path: '/operator' },
  { tab: 'accounts', path: '/operator/accounts' },
  { tab: 'transfers', path: '/operator/transfers' },
  { tab: 'orders', path: '/operator/orders' },
  { tab: 'revenue', path: '/operator/revenue' },
  { tab: 'models', path: '/operator/models' },
  { tab: 'log', path: '/operator/log' },
] as const

export type OperatorTab = (typeof TABS)[number]['tab']

const NOTICES = ['adjusted', 'blocked', 'unblocked', 'assigned', 'settled', 'entered', 'already', 'conflict'] as const

export function operatorPage(
  { language, query }: PageRequest,
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
    status,
    data: {
      tabs: TABS.map(each => ({
        path: each.path,
        label: text(language, `operator.nav.${each.tab}`),
        isHere: each.tab === tab,
      })),
      notice: done === null ? null : text(language, `operator.done.${done}`),
      ...data,
    },
  }
}

export function actorOf(request: PageRequest): Actor {
  const { accountId, email } = signedIn(request)
  return { accountId, name: email }
}
