/** Texts of the operator's pages for incoming bank transfers. */

import type { Texts } from './type.ts'

export const TRANSFER_TEXTS = {
  'transfer.waiting': { vi: '{count} khoản đang chờ, tổng {amount}', en: '{count} waiting, {amount} in total' },
  'transfer.reference': { vi: 'Mã giao dịch ngân hàng', en: 'Bank reference' },
  'transfer.reference.fault': { vi: 'Hãy nhập mã giao dịch của ngân hàng.', en: 'Enter the bank’s reference.' },
  'transfer.no_account': {
    vi: 'Chưa khai báo tài khoản ngân hàng nhận tiền (BANK_ACCOUNT).',
    en: 'No bank account is configured (BANK_ACCOUNT).',
  },
  'transfer.enter.max': {
    vi: 'Nhiều nhất {max} tại đây; khoản lớn hơn thì dùng lệnh payment enter.',
    en: 'At most {max} here; for more, use the command payment enter.',
  },
  'transfer.ask': {
    vi: 'Chuyển khoản {reference} đúng là {amount} chứ?',
    en: 'Is the transfer {reference} really {amount}?',
  },
  'transfer.ask.sure': { vi: 'Đúng, nhập chuyển khoản', en: 'Yes, enter the transfer' },
  'transfer.by_hand': { vi: 'nhập tay', en: 'entered by hand' },
  'transfer.payer': { vi: 'Người chuyển', en: 'Payer' },
  'transfer.booked': { vi: 'Ngân hàng ghi nhận lúc', en: 'Booked by the bank' },
  'transfer.twins': { vi: 'Có thể trùng với', en: 'May be the same as' },
  'transfer.to': { vi: 'Email, mã lệnh hoặc mã số khách hàng', en: 'Email, order code or customer number' },
  'transfer.unknown_email': {
    vi: 'Không có tài khoản nào với email này.',
    en: 'There is no account with this email.',
  },
  'transfer.suggestions': { vi: 'Có thể là của', en: 'It may belong to' },
  'transfer.suggest.code': {
    vi: 'Nội dung có mã {code}, hoặc gần giống',
    en: 'The memo contains code {code}, or nearly',
  },
  'transfer.suggest.email': {
    vi: 'Nội dung có email của khách này',
    en: 'The memo contains this customer’s email address',
  },
  'transfer.suggest.amount': {
    vi: 'Lệnh {code} đang chờ đúng số tiền này',
    en: 'Order {code} is waiting for this amount',
  },
  'transfer.filled': {
    vi: 'Đã điền theo gợi ý. Hãy xem lại rồi bấm cộng tiền.',
    en: 'Filled in from the suggestion. Check it, then credit it.',
  },
  'transfer.taken': {
    vi: 'Người khác đã xử lý trước: chuyển khoản {number}, {amount}. {state}, bởi {by}, {time}.',
    en: 'Somebody else has already handled transfer {number}, {amount}. {state}, by {by}, {time}.',
  },
  'transfer.waits': {
    vi: 'Chuyển khoản {number}, {amount}, đang chờ xử lý ở dưới đây. {reason}.',
    en: 'Transfer {number}, {amount}, waits below for a decision. {reason}.',
  },
  'transfer.reopen': { vi: 'Đưa lại vào hàng chờ', en: 'Put back in the queue' },
  'transfer.search': { vi: 'Mã, nội dung, người chuyển, số tiền, email', en: 'Reference, memo, payer, amount, email' },
  'transfer.none': { vi: 'Không tìm thấy chuyển khoản nào', en: 'No transfers found' },
  'transfer.compared_to': {
    vi: 'Mã, số tiền và khách hàng được tìm trong mọi khoản chuyển; nội dung và người chuyển chỉ trong các khoản nhận từ {time}.',
    en: 'References, codes, amounts and customers were searched in all transfers, memos and payers only in those received since {time}.',
  },
} as const satisfies Texts
