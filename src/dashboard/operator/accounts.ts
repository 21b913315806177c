/** Customers' accounts: finding one. What is on its page: `customer.ts`. */

import { searchAccounts } from '../../accounts/operator.ts'
import { type Answer, idOf, type Page, type PageRequest } from '../page.ts'
import { showCustomer } from './customer.ts'
import { CUSTOMER_FORMS } from './customer-forms.ts'
import { operatorPage } from './frame.ts'

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

async function search(request: PageRequest): Promise<Answer> {
  const { options, query } = request
  const q = query.text('q', 254)
  const afterId = idOf(query.text('after')) ?? 0
  const limit = options.limits.tableRows
  const accounts = await searchAccounts(options.sql, { text: q, afterId, limit })
  const last = accounts.at(-1)
  return operatorPage(request, 'operator-accounts', 'accounts', {
    q,
    accounts: accounts.map(each => ({ ...each, roleKey: each.role === null ? null : `operator.role.${each.role}` })),
    more:
      accounts.length === limit && last ? `/operator/accounts${query.with({ after: String(last.accountId) })}` : null,
  })
}
