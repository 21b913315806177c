/** UI texts for signing in with Google and GitHub. */

import type { Texts } from './type.ts'

export const SIGN_INS_TEXTS = {
  'providers.title': { vi: 'Chưa đăng nhập được', en: 'You are not signed in' },
  'providers.with': { vi: 'Tiếp tục với {provider}', en: 'Continue with {provider}' },
  'providers.again': { vi: 'Đến trang đăng nhập', en: 'Go to the sign-in page' },
  'providers.away': {
    vi: 'Hiện không kết nối được với nhà cung cấp này. Hãy thử lại sau, hoặc đăng nhập bằng cách khác.',
    en: 'This provider cannot be reached right now. Try again later, or sign in another way.',
  },
  'providers.expired': {
    vi: 'Lần đăng nhập này đã quá 10 phút, đã được dùng, hoặc bắt đầu ở trình duyệt khác. Hãy bắt đầu lại.',
    en: 'This sign-in took more than 10 minutes, has been used, or began in another browser. Start again.',
  },
  'providers.denied': { vi: 'Bạn đã hủy đăng nhập. Không có gì thay đổi.', en: 'You cancelled. Nothing has changed.' },
  'providers.failed': {
    vi: 'Nhà cung cấp không xác nhận được bạn là ai. Hãy bắt đầu lại, hoặc đăng nhập bằng cách khác.',
    en: 'The provider could not confirm who you are. Start again, or sign in another way.',
  },
  'providers.no_email': {
    vi: 'Tài khoản đó chưa có địa chỉ email chính đã được xác nhận. Hãy xác nhận email ở đó trước, hoặc [đăng ký bằng email](/register).',
    en: 'That account has no verified primary email address. Verify one there first, or [register with an email address](/register).',
  },
  'providers.taken': {
    vi: 'Tài khoản của bạn ở đây đã liên kết với một tài khoản khác của nhà cung cấp đó. Hãy đăng nhập bằng tài khoản kia, hoặc bằng cách khác.',
    en: 'Your account here is already linked to a different account at that provider. Use that one, or sign in another way.',
  },
  'providers.other_browser': {
    vi: 'Liên kết đã được dùng, đã hết hạn, hoặc không thuộc trình duyệt này. Hãy mở nó trong chính trình duyệt mà bạn đã bắt đầu.',
    en: 'It has been used, has expired, or is not for this browser. Open it in the browser in which you started.',
  },
  'providers.sent': {
    vi: 'Hãy mở liên kết trong thư bằng chính trình duyệt này.',
    en: 'Open the link in our email in this same browser.',
  },
  'providers.link.title': { vi: 'Liên kết {provider}', en: 'Link {provider}' },
  'providers.link.lead': {
    vi: 'Địa chỉ {email} đã có tài khoản. Hãy xác nhận một lần rằng tài khoản là của bạn; từ đó bạn đăng nhập được bằng {provider}.',
    en: 'There is an account for {email}. Prove once that it is yours; from then on you can sign in with {provider}.',
  },
  'providers.link.password': { vi: 'Liên kết và đăng nhập', en: 'Link and sign in' },
  'providers.link.mail.text': {
    vi: 'Hoặc chúng tôi gửi một liên kết tới {email}.',
    en: 'Or we can email a link to {email}.',
  },
  'providers.link.mail': { vi: 'Gửi liên kết', en: 'Send the link' },
  'providers.confirm': {
    vi: 'Cho phép đăng nhập vào tài khoản {email} bằng tài khoản {provider} mà bạn vừa dùng trong trình duyệt này?',
    en: 'Allow signing in to your account {email} with the {provider} account that you have just used in this browser?',
  },
  'providers.confirm.submit': { vi: 'Liên kết và đăng nhập', en: 'Link and sign in' },
  'sign_ins.title': { vi: 'Cách đăng nhập', en: 'Ways to sign in' },
  'sign_ins.lead': {
    vi: 'Bạn có thể đăng nhập bằng bất kỳ cách nào dưới đây. Khi bạn đặt lại mật khẩu qua email, chúng tôi gỡ các liên kết, trừ liên kết với chính nơi cung cấp hộp thư của bạn (ví dụ: nếu bạn dùng Gmail, GitHub sẽ bị gỡ).',
    en: 'You can sign in with any of these. If you reset your password by email, we unlink all providers except the one that hosts your mailbox (if you use Gmail, GitHub is unlinked).',
  },
  'sign_ins.no_password': { vi: 'Chưa có. [Đặt mật khẩu](/forgot)', en: 'None. [Set one](/forgot)' },
  'sign_ins.link': { vi: 'Liên kết {provider}', en: 'Link {provider}' },
  'sign_ins.remove': { vi: 'Gỡ liên kết', en: 'Remove' },
  'sign_ins.way': {
    vi: 'Bạn sẽ sang {provider} và quay lại đây.',
    en: 'You will go to {provider} and come back here.',
  },
  'sign_ins.last': {
    vi: 'Đây là cách đăng nhập cuối cùng, nên không gỡ được. Hãy đặt mật khẩu trước.',
    en: 'This is the last way in, so it cannot be removed. Set a password first.',
  },
  'sign_ins.done.linked': { vi: 'Đã liên kết {provider}.', en: '{provider} is linked.' },
  'sign_ins.done.taken': {
    vi: 'Tài khoản {provider} đó đã liên kết với một tài khoản khác, hoặc tài khoản của bạn đã liên kết với {provider}.',
    en: 'That {provider} account is linked to another account, or yours is linked to {provider} already.',
  },
  'sign_ins.done.removed': { vi: 'Đã gỡ {provider}.', en: '{provider} has been unlinked.' },
} as const satisfies Texts
