/** Emails about account changes that the owner has to confirm or should know of, as plain text in both languages. */

import type { Language } from './types.ts'

export interface MailFacts {
  readonly service: string
  readonly publicUrl: string
}

export interface MailText {
  readonly subject: string
  readonly text: string
}

export type Writer<Facts> = Readonly<Record<Language, (facts: Facts) => MailText>>

const factorOn: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Đã bật xác thực hai lớp tại ${service}`,
    text: `Xin chào,

Tài khoản của bạn tại ${service} vừa được bật xác thực hai lớp. Các phiên đăng nhập khác đã kết thúc.

Nếu không phải bạn, hãy liên hệ với chúng tôi ngay: ${publicUrl}/contact
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `Second factor turned on at ${service}`,
    text: `Hello,

A second factor has just been turned on for your account at ${service}. All other sessions have been signed out.

If it was not you, contact us right away: ${publicUrl}/contact
`,
  }),
}

const factorOff: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Đã tắt xác thực hai lớp tại ${service}`,
    text: `Xin chào,

Xác thực hai lớp của tài khoản bạn tại ${service} vừa được tắt. Từ nay chỉ cần một bước để đăng nhập.

Nếu không phải bạn, hãy đặt lại mật khẩu ngay tại ${publicUrl}/forgot rồi thu hồi các khóa API.
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `Second factor turned off at ${service}`,
    text: `Hello,

The second factor of your account at ${service} has just been turned off. From now on one step is enough to sign in.

If it was not you, reset your password right away at ${publicUrl}/forgot, then revoke your API keys.
`,
  }),
}

const factorReset: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Đã gỡ xác thực hai lớp tại ${service}`,
    text: `Xin chào,

Người vận hành ${service} vừa gỡ xác thực hai lớp của tài khoản bạn theo yêu cầu hỗ trợ. Mọi phiên đăng nhập đã kết thúc. Hãy đăng nhập rồi thiết lập lại xác thực hai lớp.

Nếu bạn không yêu cầu, hãy đặt lại mật khẩu ngay tại ${publicUrl}/forgot và báo cho chúng tôi: ${publicUrl}/contact
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `Second factor removed at ${service}`,
    text: `Hello,

An operator of ${service} has just removed the second factor of your account, as asked for in a request for help. All sessions have been signed out. Sign in and set up a new one.

If you did not ask for it, reset your password right away at ${publicUrl}/forgot and tell us: ${publicUrl}/contact
`,
  }),
}

const passkeyAdded: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Đã thêm khóa truy cập vào tài khoản của bạn tại ${service}`,
    text: `Xin chào,

Một khóa truy cập (passkey) vừa được thêm vào tài khoản của bạn tại ${service}. Từ nay có thể dùng nó để xác thực hai lớp.

Nếu không phải bạn, hãy gỡ nó tại ${publicUrl}/account/second-factor rồi đặt lại mật khẩu tại ${publicUrl}/forgot
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `A passkey was added to your account at ${service}`,
    text: `Hello,

A passkey has just been added to your account at ${service}. It can now be used as your second factor.

If it was not you, remove it at ${publicUrl}/account/second-factor, then reset your password at ${publicUrl}/forgot
`,
  }),
}

const passkeyRemoved: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Đã gỡ khóa truy cập khỏi tài khoản của bạn tại ${service}`,
    text: `Xin chào,

Một khóa truy cập (passkey) vừa được gỡ khỏi tài khoản của bạn tại ${service} và không còn dùng được.

Nếu không phải bạn, hãy liên hệ với chúng tôi ngay: ${publicUrl}/contact
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `A passkey was removed from your account at ${service}`,
    text: `Hello,

A passkey has just been removed from your account at ${service} and no longer works.

If it was not you, contact us right away: ${publicUrl}/contact
`,
  }),
}

const confirmAddress: Writer<MailFacts & { link: string; hours: number }> = {
  vi: ({ service, link, hours }) => ({
    subject: `Xác nhận địa chỉ email mới của bạn tại ${service}`,
    text: `Xin chào,

Để dùng địa chỉ này cho tài khoản của bạn tại ${service}, hãy mở liên kết dưới đây khi bạn đang đăng nhập:

${link}

Liên kết dùng được một lần, trong ${hours} giờ. Nếu bạn không yêu cầu, hãy bỏ qua thư này: không có gì thay đổi.
`,
  }),
  en: ({ service, link, hours }) => ({
    subject: `Confirm your new email address at ${service}`,
    text: `Hello,

To use this address for your account at ${service}, open the link below while you are signed in:

${link}

The link works once, for ${hours} hours. If you did not ask for it, ignore this email: nothing has changed.
`,
  }),
}

const addressTaken: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Địa chỉ này đã có tài khoản tại ${service}`,
    text: `Xin chào,

Có người muốn dùng địa chỉ này cho một tài khoản khác tại ${service}, nhưng địa chỉ đã có tài khoản rồi. Không có gì thay đổi.

Nếu là bạn: đăng nhập bằng địa chỉ này tại ${publicUrl}/signin
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `This address already has an account at ${service}`,
    text: `Hello,

Someone wanted to use this address for another account at ${service}, but it already has one. Nothing has changed.

If it was you: sign in with this address at ${publicUrl}/signin
`,
  }),
}

const emailChanged: Writer<MailFacts & { email: string }> = {
  vi: ({ service, publicUrl, email }) => ({
    subject: `Địa chỉ email của bạn tại ${service} đã được thay đổi`,
    text: `Xin chào,

Tài khoản của bạn tại ${service} nay dùng địa chỉ ${email}. Các phiên đăng nhập khác đã kết thúc. Khóa API vẫn hoạt động.

Nếu không phải bạn, hãy liên hệ với chúng tôi ngay: ${publicUrl}/contact
`,
  }),
  en: ({ service, publicUrl, email }) => ({
    subject: `Your email address at ${service} was changed`,
    text: `Hello,

Your account at ${service} now uses the address ${email}. All other sessions have been signed out. API keys still work.

If it was not you, contact us right away: ${publicUrl}/contact
`,
  }),
}

const linkProvider: Writer<MailFacts & { link: string; provider: string }> = {
  vi: ({ service, link, provider }) => ({
    subject: `Đăng nhập ${service} bằng ${provider}?`,
    text: `Xin chào,

Có người (có thể là bạn) muốn đăng nhập bằng ${provider} vào tài khoản ${service} của địa chỉ này. Nếu là bạn, hãy mở liên kết này trong chính trình duyệt mà bạn đã bắt đầu:

${link}

Liên kết dùng được một lần, trong 60 phút. Nếu không phải bạn, hãy bỏ qua thư này: không có gì thay đổi.
`,
  }),
  en: ({ service, link, provider }) => ({
    subject: `Sign in to ${service} with ${provider}?`,
    text: `Hello,

Someone (perhaps you) wants to sign in with ${provider} to the ${service} account of this address. If it was you, open this link in the browser in which you started:

${link}

The link works once, for 60 minutes. If it was not you, ignore this email: nothing has changed.
`,
  }),
}

const providerLinked: Writer<MailFacts & { provider: string }> = {
  vi: ({ service, publicUrl, provider }) => ({
    subject: `Đã liên kết ${provider} với tài khoản của bạn tại ${service}`,
    text: `Xin chào,

Từ nay có thể đăng nhập vào tài khoản của bạn tại ${service} bằng ${provider}.

Nếu không phải bạn, hãy gỡ liên kết tại ${publicUrl}/account/sign-ins và đặt lại mật khẩu tại ${publicUrl}/forgot
`,
  }),
  en: ({ service, publicUrl, provider }) => ({
    subject: `${provider} was linked to your account at ${service}`,
    text: `Hello,

You can now sign in to your account at ${service} with ${provider}.

If it was not you, remove it at ${publicUrl}/account/sign-ins and reset your password at ${publicUrl}/forgot
`,
  }),
}

const providerRemoved: Writer<MailFacts & { provider: string }> = {
  vi: ({ service, publicUrl, provider }) => ({
    subject: `Đã gỡ ${provider} khỏi tài khoản của bạn tại ${service}`,
    text: `Xin chào,

Không còn đăng nhập được vào tài khoản của bạn tại ${service} bằng ${provider} nữa.

Nếu không phải bạn, hãy đặt lại mật khẩu tại ${publicUrl}/forgot
`,
  }),
  en: ({ service, publicUrl, provider }) => ({
    subject: `${provider} was removed from your account at ${service}`,
    text: `Hello,

You can no longer sign in to your account at ${service} with ${provider}.

If it was not you, reset your password at ${publicUrl}/forgot
`,
  }),
}

const accountDeleted: Writer<MailFacts & { accountId: number }> = {
  vi: ({ service, publicUrl, accountId }) => ({
    subject: `Tài khoản của bạn tại ${service} đã được xóa`,
    text: `Xin chào,

Tài khoản số ${accountId} của bạn tại ${service} đã được xóa, các khóa API không còn dùng được. Sổ sách kế toán được giữ theo luật.

Nếu còn số dư: chúng tôi chỉ hoàn về tài khoản ngân hàng đã chuyển, khi bạn cho biết số tài khoản trên và mã của một lần nạp tiền. Liên hệ: ${publicUrl}/contact
`,
  }),
  en: ({ service, publicUrl, accountId }) => ({
    subject: `Your account at ${service} has been deleted`,
    text: `Hello,

Your account number ${accountId} at ${service} has been deleted, and its API keys no longer work. The books are kept as the law requires.

If there was a balance, we can only return it to the bank account that it came from. Tell us the account number above and the code of one of your top-ups: ${publicUrl}/contact
`,
  }),
}

export const ACCOUNT_MAILS = {
  factorOn,
  factorOff,
  factorReset,
  passkeyAdded,
  passkeyRemoved,
  confirmAddress,
  addressTaken,
  emailChanged,
  linkProvider,
  providerLinked,
  providerRemoved,
  accountDeleted,
}
