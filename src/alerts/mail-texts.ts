/** Texts of alert emails, in both languages. Plain text: nothing to render and no tracking. */

import type { Language } from '../accounts/types.ts'
import { DAYS_LEFT_MAX } from '../ledger/reports/balance.ts'
import { day, dongWholeOfText as dong, time, withDots } from '../lib/display.ts'
import type { AlertData, AlertKind } from './kinds.ts'

export interface MailText {
  readonly subject: string
  readonly text: string
}

interface Facts {
  readonly service: string
  readonly publicUrl: string
}

type Writer<Data> = Readonly<Record<Language, (data: Data, facts: Facts) => MailText>>

export const FOOT: Readonly<Record<Language, (urls: { settingsUrl: string; endUrl: string | null }) => string>> = {
  vi: ({ settingsUrl, endUrl }) =>
    `Chọn thông báo bạn muốn nhận: ${settingsUrl}\n${endUrl === null ? '' : `Không nhận loại thư này nữa: ${endUrl}\n`}`,
  en: ({ settingsUrl, endUrl }) =>
    `Choose your alerts: ${settingsUrl}\n${endUrl === null ? '' : `Stop these emails: ${endUrl}\n`}`,
}

const keyName = ({ name, last4 }: { name: string; last4: string }) =>
  name === '' ? `…${last4}` : `${name} (…${last4})`

export const ALERT_MAILS: { readonly [Kind in AlertKind]: Writer<AlertData[Kind]> } = {
  'balance.low': {
    vi: ({ balance, days_left }, { service, publicUrl }) => ({
      subject: `Số dư tại ${service} sắp hết: còn ${dong(balance)}`,
      text: `Số dư của bạn còn ${dong(balance)}${canForetell(days_left) ? `, đủ dùng ${days_left < 1 ? 'chưa đến một ngày' : `khoảng ${days_left} ngày`} với mức chi hiện tại` : ''}.

Nạp thêm: ${publicUrl}/topup
`,
    }),
    en: ({ balance, days_left }, { service, publicUrl }) => ({
      subject: `Your ${service} balance is low: ${dong(balance)} left`,
      text: `Your balance is ${dong(balance)}${canForetell(days_left) ? `, ${days_left < 1 ? 'less than a day' : `about ${counted(days_left, 'day')}`} at your current pace` : ''}.

Top up: ${publicUrl}/topup
`,
    }),
  },
  'balance.empty': {
    vi: (_, { service, publicUrl }) => ({
      subject: `Số dư tại ${service} đã hết`,
      text: `Số dư của bạn đã hết, nên các lượt gọi đang bị từ chối. Các khóa API vẫn giữ nguyên và hoạt động lại ngay khi tiền đến.

Nạp thêm: ${publicUrl}/topup
`,
    }),
    en: (_, { service, publicUrl }) => ({
      subject: `Your ${service} balance is used up`,
      text: `Your balance is used up, so calls are being refused. Your API keys stay the same and work again as soon as you top up.

Top up: ${publicUrl}/topup
`,
    }),
  },
  'key.limit_reached': {
    vi: (data, { publicUrl }) => ({
      subject: `Khóa API ${keyName(data)} đã dùng ${data.percent}% hạn mức`,
      text: `Khóa API ${keyName(data)} đã dùng ${dong(data.used)} trên hạn mức ${dong(data.limit)}.${data.percent === 100 ? ` Các lượt gọi bằng khóa API này bị từ chối ${data.limit_reset === null ? '' : 'cho đến kỳ sau hoặc '}cho đến khi bạn nâng hạn mức.` : ''}

Xem khóa API: ${publicUrl}/keys/${data.key_id}
`,
    }),
    en: (data, { publicUrl }) => ({
      subject: `API key ${keyName(data)} has used ${data.percent}% of its limit`,
      text: `API key ${keyName(data)} has used ${dong(data.used)} of its limit of ${dong(data.limit)}.${data.percent === 100 ? ` Calls with it are refused until ${data.limit_reset === null ? 'you raise the limit' : 'the limit resets or you raise it'}.` : ''}

See the key: ${publicUrl}/keys/${data.key_id}
`,
    }),
  },
  'topup.credited': {
    vi: ({ amount, balance, order_code, bank_reference }, { service, publicUrl }) => ({
      subject: `${service} đã nhận ${dong(amount)}`,
      text: `Chúng tôi đã nhận ${dong(amount)}. Số dư của bạn giờ là ${dong(balance)}.
${lines([
  ['Mã lệnh', order_code],
  ['Mã giao dịch ngân hàng', bank_reference],
])}
${order_code === null ? `Lịch sử nạp tiền: ${publicUrl}/topup` : `Biên nhận: ${publicUrl}/topup/${order_code}/receipt`}
`,
    }),
    en: ({ amount, balance, order_code, bank_reference }, { service, publicUrl }) => ({
      subject: `${service} received ${dong(amount)}`,
      text: `We have received ${dong(amount)}. Your balance is now ${dong(balance)}.
${lines([
  ['Order', order_code],
  ['Bank reference', bank_reference],
])}
${order_code === null ? `Your top-ups: ${publicUrl}/topup` : `Receipt: ${publicUrl}/topup/${order_code}/receipt`}
`,
    }),
  },
  'key.created': {
    vi: (data, { publicUrl }) => ({
      subject: `Đã tạo khóa API ${keyName(data)}`,
      text: `Khóa API ${keyName(data)} vừa được tạo trong tài khoản của bạn.

Nếu không phải bạn, hãy thu hồi khóa API này rồi đổi mật khẩu: ${publicUrl}/keys/${data.key_id}
`,
    }),
    en: (data, { publicUrl }) => ({
      subject: `API key ${keyName(data)} was created`,
      text: `API key ${keyName(data)} has just been created in your account.

If it was not you, revoke it and change your password: ${publicUrl}/keys/${data.key_id}
`,
    }),
  },
  'key.revoked': {
    vi: (data, { publicUrl }) => ({
      subject: `Đã thu hồi khóa API ${keyName(data)}`,
      text: `Khóa API ${keyName(data)} vừa bị thu hồi. Mọi lượt gọi bằng khóa API này đều bị từ chối.

Các khóa API của bạn: ${publicUrl}/keys
`,
    }),
    en: (data, { publicUrl }) => ({
      subject: `API key ${keyName(data)} was revoked`,
      text: `API key ${keyName(data)} has just been revoked. All calls with it are refused.

Your keys: ${publicUrl}/keys
`,
    }),
  },
  'session.new': {
    vi: ({ device, signed_in_at }, { service, publicUrl }) => ({
      subject: `Đăng nhập ${service} trên thiết bị mới`,
      text: `Tài khoản của bạn vừa được đăng nhập trên một thiết bị mới.
${lines([
  ['Thiết bị', device || 'không rõ'],
  ['Lúc', time(new Date(signed_in_at))],
])}
Nếu không phải bạn, hãy đổi mật khẩu ngay: ${publicUrl}/forgot
`,
    }),
    en: ({ device, signed_in_at }, { service, publicUrl }) => ({
      subject: `New sign-in to ${service}`,
      text: `Someone has just signed in to your account on a new device.
${lines([
  ['Device', device || 'unknown'],
  ['Time', `${time(new Date(signed_in_at))} (Vietnam)`],
])}
If it was not you, change your password now: ${publicUrl}/forgot
`,
    }),
  },
  'model.retiring': {
    vi: ({ model, retires_on, successor }, { publicUrl }) => ({
      subject: `Mô hình ${model} ngừng phục vụ từ ${day(retires_on)}`,
      text: `Bạn đã dùng ${model} trong 30 ngày qua. Mô hình này ngừng phục vụ từ ${day(retires_on)}.
${successor === null ? 'Từ ngày đó, các lượt gọi tới mô hình này sẽ bị lỗi. Hãy chọn mô hình khác.' : `Từ ngày đó, các lượt gọi tới mô hình này do ${successor} trả lời, theo giá của ${successor}.`}

Mô hình và giá: ${publicUrl}/models
`,
    }),
    en: ({ model, retires_on, successor }, { publicUrl }) => ({
      subject: `${model} retires on ${day(retires_on)}`,
      text: `You have used ${model} in the last 30 days. It retires on ${day(retires_on)}.
${successor === null ? 'From that day on, calls to it will fail. Please choose another model.' : `From that day on, calls to it will be answered by ${successor}, at the price of ${successor}.`}

Models and prices: ${publicUrl}/models
`,
    }),
  },
  'webhook.disabled': {
    vi: ({ webhook_id, host, reason }, { service, publicUrl }) => ({
      subject: `Webhook tới ${host} đã bị tắt`,
      text: `${reason === 'gone' ? `${host} trả lời 410 (không còn nhận nữa)` : `${host} không nhận được thông báo nào trong nhiều ngày`}, nên ${service} đã ngừng gửi tới webhook này.

Kiểm tra, gửi thử rồi bật lại: ${publicUrl}/account/webhooks/${webhook_id}
`,
    }),
    en: ({ webhook_id, host, reason }, { service, publicUrl }) => ({
      subject: `The webhook to ${host} was switched off`,
      text: `${reason === 'gone' ? `${host} answered 410 (gone)` : `${host} has not accepted a delivery for days`}, so ${service} has stopped sending to it.

Check it, send a test and switch it back on: ${publicUrl}/account/webhooks/${webhook_id}
`,
    }),
  },
  'summary.weekly': {
    vi: ({ from, to, calls, charged, balance, models }, { service, publicUrl }) => ({
      subject: `Tuần qua tại ${service}: ${dong(charged)}`,
      text: `Từ ${day(from)} đến ${day(to)}: ${withDots(String(calls))} lượt gọi, ${dong(charged)}.
${lines(models.map(each => [each.model, `${withDots(String(each.calls))} lượt, ${dong(each.charged)}`]))}
Số dư hiện tại: ${dong(balance)}

Chi tiết: ${publicUrl}/usage
`,
    }),
    en: ({ from, to, calls, charged, balance, models }, { service, publicUrl }) => ({
      subject: `Your week at ${service}: ${dong(charged)}`,
      text: `${day(from)} to ${day(to)}: ${counted(calls, 'call')}, ${dong(charged)}.
${lines(models.map(each => [each.model, `${counted(each.calls, 'call')}, ${dong(each.charged)}`]))}
Balance now: ${dong(balance)}

Details: ${publicUrl}/usage
`,
    }),
  },
  'topup.unmatched': {
    vi: ({ bank_transaction, amount, bank_reference }, { publicUrl }) => ({
      subject: `Khoản chuyển ${dong(amount)} chờ người vận hành`,
      text: `Khoản chuyển số ${bank_transaction}, ${dong(amount)}, chưa được tự động cộng.
${lines([['Mã giao dịch ngân hàng', bank_reference]])}
Xem lý do và xử lý: ${transfersUrl(publicUrl)}
`,
    }),
    en: ({ bank_transaction, amount, bank_reference }, { publicUrl }) => ({
      subject: `A transfer of ${dong(amount)} is waiting for an operator`,
      text: `Transfer ${bank_transaction}, ${dong(amount)}, was not credited automatically.
${lines([['Bank reference', bank_reference]])}
See why, and decide: ${transfersUrl(publicUrl)}
`,
    }),
  },
}

/** By way of signing in: for signed-out visitors, operators' pages do not exist. */
function transfersUrl(publicUrl: string): string {
  return `${publicUrl}/signin?next=/operator/transfers`
}

function canForetell(daysLeft: number | null): daysLeft is number {
  return daysLeft !== null && daysLeft <= DAYS_LEFT_MAX
}

/** Formats a count with its noun, such as `1 day` or `1.200 calls`. */
function counted(count: number, noun: string): string {
  return `${withDots(String(count))} ${noun}${count === 1 ? '' : 's'}`
}

/** Writes one fact per line and leaves out unknown ones. */
function lines(facts: readonly (readonly [name: string, value: string | null])[]): string {
  return facts.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${value}\n`])).join('')
}
