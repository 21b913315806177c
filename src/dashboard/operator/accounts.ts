/** Lets operators find customers' accounts; `customer.ts` shows one account. */

import { searchAccounts } from '../../accounts/operator.ts'
import { readTroubledAccounts } from '../../ledger/reports/desk.ts'
import { readPlace } from '../../lib/search.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { FAILING_CUSTOMER } from './attention.ts'
import { showCustomer } from './customer.ts'
import { CUSTOMER_FORMS } from './customer-forms.ts'
import { operatorPage, searchLinks } from './frame.ts'

export const OPERATOR_ACCOUNT_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/accounts',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Search',
    handle: search,
  },
  {
    method: 'GET',
    path: '/operator/accounts/:id',
    authentication: 'operator',
    needs: 'read',
    purpose: 'One account',
    handle: showCustomer,
  },
  ...CUSTOMER_FORMS,
]

/** Filters for customers with problems today. They match the counts on the operators' home page. */
const SHOWN = ['failing', 'empty'] as const

async function search(request: PageRequest): Promise<Answer> {
  const { options, query, now } = request
  const show = query.choice('show', SHOWN)
  const q = query.text('q', 254)
  const limit = options.limits.tableRows
  const lists = {
    lists: [null, ...SHOWN].map(each => ({
      key: `operator.accounts.show.${each ?? 'all'}`,
      path: `/operator/accounts${each === null ? '' : `?show=${each}`}`,
      isChosen: each === show,
    })),
    q,
  }
  if (show !== null) {
    const troubled = await readTroubledAccounts(options.sql, { now, limit, ...FAILING_CUSTOMER })
    const { accounts, total } = troubled[show]
    const data = { ...lists, troubled: { accounts, more: total - accounts.length }, accounts: [], more: null }
    return operatorPage(request, 'operator-accounts', 'accounts', data)
  }
  const found = await searchAccounts(options.sql, { text: q, place: readPlace(query.text('before')), limit })
  return operatorPage(request, 'operator-accounts', 'accounts', {
    ...lists,
    troubled: null,
    accounts: found.accounts.map(each => ({
      ...each,
      roleKey: each.role === null ? null : `operator.role.${each.role}`,
    })),
    ...searchLinks(request, found, { path: '/operator/accounts', anchor: '', note: 'operator.accounts.compared_to' }),
  })
}
