/** Top-ups of a period with their tax, adjustments and refunds, as CSV for the accountant's software. */

import { textCell } from '../../ledger/reports/csv.ts'
import { addDays } from '../../ledger/reports/days.ts'
import { formatVnd } from '../../lib/money.ts'
import { type Receipt, readReceipts } from '../../payments/receipts.ts'
import { csvAnswer } from '../csv.ts'
import { readUsageQuery } from '../money/usage-query.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { day as calendarDay, time } from '../view/format.ts'

export const RECEIPT_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator/receipts.csv',
    authentication: 'operator',
    needs: 'business',
    purpose: 'Top-ups with their tax, adjustments and refunds as CSV',
    handle: exportCsv,
  },
]

/** Spreadsheets recognise UTF-8 by this mark. */
const BYTE_ORDER_MARK = '\ufeff'
const COLUMNS = [
  ...['day', 'time', 'order', 'bank_reference', 'provider', 'gross', 'rate', 'net', 'tax'],
  ...['buyer', 'tax_code', 'address', 'email', 'account', 'kind', 'note'],
] as const

async function exportCsv(request: PageRequest): Promise<Answer> {
  const { options, query, now } = request
  const { from, to } = readUsageQuery(query, { now, daysMax: options.limits.usageDaysMax })
  const chunks = csvOf(request, from, to)
  return csvAnswer(request, { chunks, fileName: `receipts-${from}-${to}.csv` })
}

async function* csvOf({ options, language }: PageRequest, from: string, to: string): AsyncGenerator<string> {
  const head = COLUMNS.map(name => textCell(text(language, `operator.receipts.${name}`)))
  yield `${BYTE_ORDER_MARK}${head.join(',')}\r\n`
  for (let day = from; day <= to; day = addDays(day, 1)) {
    const receipts = await readReceipts(options.sql, { day, rates: options.taxRates })
    if (receipts.length > 0) yield receipts.map(receipt => `${cellsOf(receipt, language).join(',')}\r\n`).join('')
  }
}

function cellsOf(receipt: Receipt, language: PageRequest['language']): readonly string[] {
  const { day, at, orderCode, bankReference, provider, kind, amountMicroVnd, tax, buyer, email, accountId, note } =
    receipt
  const names = [orderCode, bankReference, provider].map(textCell)
  const rate = tax === null ? '' : tax.percent === null ? 'KCT' : `${tax.percent}%`
  const money = [formatVnd(amountMicroVnd), rate, String(tax?.netVnd ?? ''), String(tax?.taxVnd ?? '')]
  const buyers = [buyer?.name ?? '', buyer?.taxCode ?? '', buyer?.address ?? ''].map(textCell)
  const why = [text(language, `topup.kind.${kind}`), note].map(textCell)
  return [calendarDay(day), time(at), ...names, ...money, ...buyers, textCell(email), String(accountId), ...why]
}
