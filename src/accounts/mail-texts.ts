/** Templates of the emails about accounts, in Vietnamese and English. Plain text: nothing to render, and no tracking. */

import { ACCOUNT_MAILS, type MailFacts, type Writer } from './mail-texts-account.ts'

const verification: Writer<MailFacts & { link: string; hours: number }> = {
  vi: ({ service, link, hours }) => ({
    subject: `Xác nhận địa chỉ email của bạn tại ${service}`,
    text: `Xin chào,

Để hoàn tất đăng ký tại ${service}, hãy mở liên kết dưới đây và nhập lại mật khẩu bạn vừa chọn:

${link}

Liên kết dùng được một lần, trong ${hours} giờ. Nếu bạn không đăng ký, hãy bỏ qua thư này: không có tài khoản nào được tạo.
`,
  }),
  en: ({ service, link, hours }) => ({
    subject: `Confirm your email address at ${service}`,
    text: `Hello,

To finish your registration at ${service}, open the link below and enter the password you just chose:

${link}

The link works once, for ${hours} hours. If you did not register, ignore this email: no account has been created.
`,
  }),
}

const alreadyRegistered: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Bạn đã có tài khoản tại ${service}`,
    text: `Xin chào,

Có người (có thể là bạn) vừa đăng ký tại ${service} bằng địa chỉ này, nhưng bạn đã có tài khoản.

Đăng nhập: ${publicUrl}/signin
Quên mật khẩu: ${publicUrl}/forgot

Nếu không phải bạn, bạn không cần làm gì cả.
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `You already have an account at ${service}`,
    text: `Hello,

Someone (perhaps you) just registered at ${service} with this address, but you already have an account.

Sign in: ${publicUrl}/signin
Forgotten password: ${publicUrl}/forgot

If it was not you, you do not need to do anything.
`,
  }),
}

const reset: Writer<MailFacts & { link: string; minutes: number }> = {
  vi: ({ service, link, minutes }) => ({
    subject: `Đặt lại mật khẩu của bạn tại ${service}`,
    text: `Xin chào,

Để chọn mật khẩu mới tại ${service}, hãy mở liên kết này:

${link}

Liên kết dùng được một lần, trong ${minutes} phút. Nếu bạn không yêu cầu, hãy bỏ qua thư này: mật khẩu của bạn không thay đổi.
`,
  }),
  en: ({ service, link, minutes }) => ({
    subject: `Choose a new password at ${service}`,
    text: `Hello,

To choose a new password at ${service}, open this link:

${link}

The link works once, for ${minutes} minutes. If you did not ask for it, ignore this email: your password has not changed.
`,
  }),
}

const passwordChanged: Writer<MailFacts> = {
  vi: ({ service, publicUrl }) => ({
    subject: `Mật khẩu của bạn tại ${service} đã được thay đổi`,
    text: `Xin chào,

Mật khẩu của bạn tại ${service} vừa được thay đổi và mọi phiên đăng nhập khác đã kết thúc. Khóa API vẫn hoạt động.

Nếu không phải bạn, hãy đặt lại mật khẩu ngay tại ${publicUrl}/forgot rồi thu hồi các khóa API.
`,
  }),
  en: ({ service, publicUrl }) => ({
    subject: `Your password at ${service} was changed`,
    text: `Hello,

Your password at ${service} has just been changed, and all other sessions have been signed out. API keys still work.

If it was not you, reset it right away at ${publicUrl}/forgot, then revoke your API keys.
`,
  }),
}

export const MAILS = { verification, alreadyRegistered, reset, passwordChanged, ...ACCOUNT_MAILS }
