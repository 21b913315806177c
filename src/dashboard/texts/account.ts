/** UI texts for registration, sign-in, the account page and the development outbox. */

import type { Texts } from './type.ts'

export const ACCOUNT_TEXTS = {
  'field.email': { vi: 'Email', en: 'Email' },
  'field.password': { vi: 'Mật khẩu', en: 'Password' },
  'field.password.new': { vi: 'Mật khẩu mới', en: 'New password' },
  'field.password.current': { vi: 'Mật khẩu hiện tại', en: 'Current password' },
  'field.password.hint': {
    vi: 'Ít nhất {min} ký tự. Một câu dài dễ nhớ là tốt nhất.',
    en: 'At least {min} characters. A long phrase is best.',
  },
  'fault.email.malformed': {
    vi: 'Hãy nhập địa chỉ dạng ten@example.com.',
    en: 'Enter an email address, such as name@example.com.',
  },
  'fault.password.too_short': { vi: 'Mật khẩu cần ít nhất {min} ký tự.', en: 'Use at least {min} characters.' },
  'fault.password.too_long': {
    vi: 'Mật khẩu quá dài (tối đa {max} byte; chữ có dấu chiếm 2–3 byte). Hãy dùng mật khẩu ngắn hơn.',
    en: 'This password is too long (at most {max} bytes; accented letters take 2 or 3). Use a shorter one.',
  },
  'fault.password.too_common': {
    vi: 'Mật khẩu này quá dễ đoán. Hãy chọn mật khẩu khác.',
    en: 'This password is too easy to guess. Choose another one.',
  },
  'fault.password.wrong': { vi: 'Mật khẩu không đúng.', en: 'Incorrect password.' },
  'proof.sign_in': {
    vi: 'Tài khoản này không có mật khẩu. Hãy đăng nhập lại rồi thử lại trong vòng 5 phút, hoặc [đặt một mật khẩu](/forgot).',
    en: 'This account has no password. Sign in again and return within 5 minutes, or [set a password](/forgot).',
  },
  'register.title': { vi: 'Tạo tài khoản', en: 'Create an account' },
  'register.lead': {
    vi: 'Chúng tôi sẽ gửi một liên kết xác nhận tới email của bạn.',
    en: 'We will email you a link to confirm your address.',
  },
  'register.submit': { vi: 'Tạo tài khoản', en: 'Create the account' },
  'register.have': { vi: 'Đã có tài khoản?', en: 'Already have an account?' },
  'sent.title': { vi: 'Hãy kiểm\u00a0tra hộp\u00a0thư', en: 'Check your inbox' },
  'sent.register': {
    vi: 'Mở liên kết trong thư và nhập lại mật khẩu bạn vừa chọn. Liên kết có hiệu lực trong {hours} giờ.',
    en: 'Open the link in our email and enter the password you just chose. The link works for {hours} hours.',
  },
  'sent.forgot': {
    vi: 'Nếu địa chỉ này có tài khoản, chúng tôi vừa gửi một liên kết để đặt mật khẩu mới.',
    en: 'If there is an account for this address, we have just sent it a link to set a new password.',
  },
  'sent.nothing': {
    vi: 'Không thấy thư? Hãy xem thư rác, hoặc thử lại sau vài phút.',
    en: 'No email? Check your spam folder, or try again in a few minutes.',
  },
  'verify.title': { vi: 'Xác nhận tài khoản', en: 'Confirm your account' },
  'verify.lead': { vi: 'Nhập lại mật khẩu bạn đã chọn cho {email}.', en: 'Enter the password you chose for {email}.' },
  'verify.forgot': {
    vi: 'Không nhớ mật khẩu đã chọn? [Đăng ký lại](/register) với cùng email và chọn mật khẩu khác.',
    en: 'Forgot which password you chose? [Register again](/register) with the same address and choose another.',
  },
  'verify.submit': { vi: 'Xác nhận và đăng nhập', en: 'Confirm and sign in' },
  'expired.title': { vi: 'Liên kết không còn hiệu lực', en: 'This link no longer works' },
  'expired.register': {
    vi: 'Liên kết đã được dùng hoặc đã hết hạn. Hãy đăng ký lại để nhận liên kết mới.',
    en: 'It has been used or has expired. Register again to get a new one.',
  },
  'expired.reset': {
    vi: 'Liên kết đã được dùng hoặc đã hết hạn. Hãy yêu cầu liên kết mới.',
    en: 'It has been used or has expired. Request a new one.',
  },
  'expired.again': { vi: 'Nhận liên kết mới', en: 'Get a new link' },
  'signin.title': { vi: 'Đăng nhập', en: 'Sign in' },
  'signin.submit': { vi: 'Đăng nhập', en: 'Sign in' },
  'signin.unsent': {
    vi: 'Phiên đăng nhập của bạn đã hết, nên nội dung vừa gửi chưa được lưu. Hãy đăng nhập rồi gửi lại.',
    en: 'Your session has ended, so what you just sent was not saved. Sign in and send it again.',
  },
  'signin.refused': { vi: 'Email hoặc mật khẩu không đúng.', en: 'Incorrect email or password.' },
  'signin.blocked': {
    vi: 'Tài khoản này đã bị chặn. Hãy [liên hệ với chúng tôi](/contact).',
    en: 'This account is blocked. Please [contact us](/contact).',
  },
  'signin.throttled': {
    vi: 'Để bảo vệ tài khoản, hãy thử lại sau {minutes} phút. Không muốn chờ? [Nhận một liên kết qua email](/forgot) để đăng nhập và đặt mật khẩu mới.',
    en: 'To protect your account, wait {minutes} min and try again. Or [get a link by email](/forgot) to sign in now with a new password.',
  },
  'signin.forgot': { vi: 'Quên mật khẩu?', en: 'Forgot password?' },
  'signin.none': { vi: 'Chưa có tài khoản?', en: 'No account yet?' },
  'forgot.title': { vi: 'Quên mật khẩu', en: 'Forgot password?' },
  'forgot.lead': {
    vi: 'Chúng tôi sẽ gửi một liên kết để đặt mật khẩu mới.',
    en: 'We will email you a link to choose a new one.',
  },
  'forgot.throttled': {
    vi: 'Đã có nhiều yêu cầu như vậy. Nếu địa chỉ này có tài khoản, trong hộp thư đã có liên kết còn hiệu lực; nếu không, hãy thử lại sau {minutes} phút.',
    en: 'There have been many such requests. If this address has an account, a working link is already in its mailbox; otherwise try again in {minutes} min.',
  },
  'forgot.submit': { vi: 'Gửi liên kết', en: 'Send the link' },
  'reset.title': { vi: 'Đặt mật khẩu mới', en: 'Choose a new password' },
  'reset.lead': {
    vi: 'Cho tài khoản {email}. Mọi phiên đăng nhập khác sẽ kết thúc.',
    en: 'For {email}. All other sessions will be signed out.',
  },
  'reset.submit': { vi: 'Lưu và đăng nhập', en: 'Save and sign in' },
  'account.title': { vi: 'Tài khoản', en: 'Account' },
  'account.verified': { vi: 'Đã xác nhận', en: 'Confirmed' },
  'account.unverified': { vi: 'Chưa xác nhận', en: 'Not confirmed' },
  'account.sessions': { vi: 'Phiên đăng nhập', en: 'Sessions' },
  'account.sessions.text': {
    vi: 'Các thiết bị đang đăng nhập vào tài khoản của bạn.',
    en: 'Devices signed in to your account.',
  },
  'account.device': { vi: 'Thiết bị', en: 'Device' },
  'account.device.unknown': { vi: 'Không rõ', en: 'Unknown' },
  'account.seen': { vi: 'Hoạt động gần nhất', en: 'Last used' },
  'account.opened': { vi: 'Đăng nhập lúc', en: 'Signed in' },
  'account.this': { vi: 'Thiết bị này', en: 'This device' },
  'account.waiting': { vi: 'Chưa nhập mã xác thực', en: 'Second factor not entered' },
  'account.factor.change': { vi: 'Quản lý xác thực hai lớp', en: 'Manage two-factor authentication' },
  'account.done.factor_off': { vi: 'Đã tắt xác thực hai lớp.', en: 'Second factor turned off.' },
  'account.end': { vi: 'Đăng xuất', en: 'Sign out' },
  'account.end_others': { vi: 'Đăng xuất mọi phiên khác', en: 'Sign out all others' },
  'account.actions': { vi: 'Thao tác', en: 'Actions' },
  'account.password': { vi: 'Đổi mật khẩu', en: 'Change the password' },
  'account.password.text': {
    vi: 'Mọi phiên khác sẽ kết thúc. Khóa API không bị ảnh hưởng.',
    en: 'All other sessions will be signed out. API keys are not affected.',
  },
  'account.done.password': {
    vi: 'Đã đổi mật khẩu. Các phiên khác đã kết thúc.',
    en: 'Password changed. All other sessions have been signed out.',
  },
  'account.done.ended': { vi: 'Đã đăng xuất ở nơi khác.', en: 'Signed out elsewhere.' },
  'outbox.title': { vi: 'Hộp thư thử nghiệm', en: 'Development outbox' },
  'outbox.lead': {
    vi: 'Không có máy chủ thư: thư đi nằm ở đây. Trang này không tồn tại khi chạy thật.',
    en: 'No mail server is configured, so outgoing emails land here. This page does not exist in production.',
  },
  'outbox.none': { vi: 'Chưa có thư nào', en: 'No emails yet' },
  'outbox.none.text': {
    vi: 'Đăng ký một tài khoản để nhận thư đầu tiên.',
    en: 'Register an account to receive the first one.',
  },
  'outbox.to': { vi: 'Gửi tới', en: 'To' },
} as const satisfies Texts
