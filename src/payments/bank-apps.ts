/** Links that open a banking app on the phone, from a reviewed list (`bank-apps.yaml`). */

import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import type { BankAccount, TopUpOrder } from './types.ts'

export interface BankApp {
  readonly id: string
  readonly name: string
  /** Whether the app opens with account, amount and memo filled in. */
  readonly fills: boolean
  readonly url: string
}

interface BankAppList {
  readonly apps: readonly Omit<BankApp, 'url'>[]
  /** VietQR's code of each bank that can receive transfers, by the bank's NAPAS number. */
  readonly banks: Readonly<Record<string, string>>
}

const LINK = 'https://dl.vietqr.io/pay'
let list: BankAppList | undefined

/** Reads the reviewed list. Throws an Error for invalid YAML only; a test checks the list's content. */
export function readBankAppList(): BankAppList {
  list ??= parse(readFileSync(new URL('bank-apps.yaml', import.meta.url), 'utf8')) as BankAppList
  return list
}

/**
 * Lists the banking apps with their links. Apps that open with the transfer filled in come first; the links of the others do
 * not contain the transfer's details.
 */
export function bankApps(
  bank: BankAccount,
  { orderCode, amountVnd }: Pick<TopUpOrder, 'orderCode' | 'amountVnd'>,
  returnUrl: string,
): readonly BankApp[] {
  const { apps, banks } = readBankAppList()
  const code = banks[bank.bin]
  const links = apps.map(app => {
    const fills = app.fills && code !== undefined
    const query = new URLSearchParams({ app: app.id })
    if (fills) {
      query.set('ba', `${bank.accountNumber}@${code}`)
      query.set('am', String(amountVnd))
      query.set('tn', orderCode)
      query.set('bn', bank.accountName)
      query.set('url', returnUrl)
    }
    return { ...app, fills, url: `${LINK}?${query}` }
  })
  return links.toSorted((a, b) => Number(b.fills) - Number(a.fills))
}
