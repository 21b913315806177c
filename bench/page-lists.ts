/** The pages that benches measure, with the filters that people use. */

import { BUSINESS_SPLITS } from '../src/ledger/reports/business.ts'
import { addDays, dayOf } from '../src/ledger/reports/days.ts'

/** The first of the last 90 days. */
export const LONG_AGO = addDays(dayOf(new Date()), -89)

/** A customer's pages; `middleSeq` is the sequence number of a call in the middle of the account's journal. */
export function customerPages(middleSeq: number): string[] {
  return [
    ...['/', '/models', '/overview', '/keys', '/keys/1', '/topup', '/usage', '/usage?by=key&measure=tokens'],
    `/usage?from=${LONG_AGO}`,
    `/usage?from=${LONG_AGO}&before=${middleSeq}`,
    `/usage?from=${LONG_AGO}&key=3`,
    `/usage?from=${LONG_AGO}&status=error`,
  ]
}

/**
 * The operator's pages, except those about calls and business. Includes first and middle pages of lists, and searches with few
 * or no results.
 */
export function deskPages(customer: number): string[] {
  const email = `customer-${customer}@example.com`
  return [
    '/operator',
    ...['', `?before=${customer}`, `?q=customer-${customer}`, '?q=nobody-at-all'].map(
      query => `/operator/accounts${query}`,
    ),
    ...['/operator/accounts/1', `/operator/accounts/${customer}`],
    ...['', '?state=unmatched', '?q=FT777', '?q=150000', '?q=nothing'].map(query => `/operator/transfers${query}`),
    ...['', '?state=open', `?q=${email}`].map(query => `/operator/orders${query}`),
    ...['', '?hours=24', '?hours=168', '/anthropic'].map(query => `/operator/upstreams${query}`),
    ...['', `?account=${customer}`, '?q=nothing'].map(query => `/operator/log${query}`),
    ...['/operator/models', '/operator/team', '/operator/banner'],
  ]
}

/** The operator's business page (revenue, cost and margin) in each of its splits: over the last 30 days (the default) and over 90. */
export function businessPages(): string[] {
  return BUSINESS_SPLITS.flatMap(by => [`/operator/business?by=${by}`, `/operator/business?by=${by}&from=${LONG_AGO}`])
}

/** The operator's log of calls, with the filters that operators use. */
export function logPages(callInTheMiddle: string): string[] {
  const days = `from=${LONG_AGO}`
  const queries = [
    ...['', days, `${days}&before=${callInTheMiddle}`],
    ...[
      'account=customer-77@example.com',
      'account=customer-1@example.com',
      `${days}&account=customer-1@example.com&status=502`,
    ],
    ...['key=77', 'asked=vendor/model-4', 'model=model-4', 'model=model-z', 'upstream=first', `${days}&upstream=rare`],
    ...['status=error', 'status=502', 'status=418', 'slow=60', `${days}&slow=61`, 'slow=600', `${days}&asked=nothing`],
    ...[`${days}&status=error&upstream=second&model=model-3`, `${days}&status=502&upstream=rare`],
  ]
  return queries.map(query => `/operator/calls?${query}`)
}
