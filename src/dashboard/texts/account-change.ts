/** Texts for changing an account's email address and for deleting an account. */

import type { Texts } from './type.ts'

export const ACCOUNT_CHANGE_TEXTS = {
  'email.title': { vi: 'Đổi email', en: 'Change your email address' },
  'email.lead': { vi: 'Hiện tại: {email}', en: 'Current address: {email}' },
  'email.new': { vi: 'Email mới', en: 'New email address' },
  'email.hint': {
    vi: 'Chúng tôi sẽ gửi một liên kết tới địa chỉ này. Email chỉ thay đổi sau khi bạn mở liên kết và xác nhận.',
    en: 'We will email a link to this address. Nothing changes until you open it and confirm.',
  },
  'email.submit': { vi: 'Gửi liên kết', en: 'Send the link' },
  'email.same': { vi: 'Đây là địa chỉ hiện tại của bạn.', en: 'This is already your address.' },
  'email.sent': {
    vi: 'Hãy mở liên kết trong thư gửi tới địa chỉ mới, trên thiết bị này. Liên kết có hiệu lực trong {hours} giờ.',
    en: 'Open the link in the email to the new address, on this device. It works for {hours} hours.',
  },
  'email.expired': {
    vi: 'Liên kết đã được dùng, đã hết hạn, hoặc thuộc về tài khoản khác.',
    en: 'It has been used, has expired, or belongs to another account.',
  },
  'email.taken': {
    vi: 'Địa chỉ này nay đã thuộc về một tài khoản khác.',
    en: 'Another account has taken this address in the meantime.',
  },
  'email.confirm': {
    vi: 'Đổi email của tài khoản từ {before} thành {email}? Mọi phiên đăng nhập khác sẽ kết thúc. Khóa API không bị ảnh hưởng.',
    en: 'Change your account’s email address from {before} to {email}? You will be signed out everywhere else. API keys are not affected.',
  },
  'email.confirm.submit': { vi: 'Đổi email', en: 'Change it' },
  'account.done.email': {
    vi: 'Đã đổi email. Chúng tôi đã báo cho địa chỉ cũ.',
    en: 'Email address changed. We have notified the old address.',
  },
  'operator.action.account_email': { vi: 'Đổi email của mình', en: 'Changed their email address' },
  'operator.action.account_delete': { vi: 'Xóa tài khoản của mình', en: 'Deleted their account' },
  'operator.account.deleted': { vi: 'Đã xóa ngày {on}', en: 'Deleted on {on}' },
  'delete.title': { vi: 'Xóa tài khoản', en: 'Delete your account' },
  'delete.goes': { vi: 'Những gì bị xóa', en: 'What gets deleted' },
  'delete.goes.text': {
    vi: 'Email, mật khẩu, phiên đăng nhập, xác thực hai lớp và thông tin hóa đơn của bạn. Mọi khóa API bị thu hồi ngay, tên khóa cũng bị xóa. Không thể hoàn tác.',
    en: 'Your email address, password, sessions, second factor and invoice details. Every API key is revoked immediately and its name erased. This cannot be undone.',
  },
  'delete.stays': { vi: 'Những gì được giữ lại', en: 'What we keep' },
  'delete.stays.text': {
    vi: 'Sổ sách theo luật kế toán: các lần nạp tiền, hóa đơn và số liệu từng lượt gọi, chỉ gắn với mã số tài khoản của bạn ở đây. Xem [chính sách quyền riêng tư](/privacy).',
    en: 'Accounting records, as the law requires: top-ups, invoices and call figures, under your account number only. See our [privacy policy](/privacy).',
  },
  'delete.balance': {
    vi: 'Muốn nhận lại số dư, hãy [yêu cầu hoàn tiền](/refunds) trước khi xóa. Số tiền còn lại vẫn được ghi dưới mã số tài khoản {account} nhưng không ai dùng được. Sau khi xóa, chúng tôi chỉ có thể hoàn về đúng tài khoản ngân hàng bạn đã dùng để nạp, nếu bạn cho biết mã số này và mã của một lệnh nạp. Đừng chuyển tiền cho các lệnh nạp đang chờ: tiền đến sau khi xóa sẽ không được cộng mà được trả lại người gửi.',
    en: 'To get your balance back, [request a refund](/refunds) before you delete your account. Anything left stays recorded under account number {account}, but nobody can spend it. After deletion we can only return it to the bank account it came from, if you give us this number and the code of one of your top-ups. Do not pay any top-up orders that are still waiting: money that arrives after deletion is not credited but returned to the sender.',
  },
  'delete.balance.none': {
    vi: 'Không còn gì để hoàn lại. Đừng chuyển tiền cho các lệnh nạp đang chờ: tiền đến sau khi xóa sẽ không được cộng mà được trả lại người gửi.',
    en: 'There is nothing to refund. Do not pay any top-up orders that are still waiting: money that arrives after deletion is not credited but returned to the sender.',
  },
  'delete.confirm': { vi: 'Nhập {email} để xác nhận', en: 'Type {email} to confirm' },
  'delete.confirm.fault': {
    vi: 'Chưa khớp. Hãy nhập đúng địa chỉ email của tài khoản này.',
    en: 'That does not match. Type this account’s email address.',
  },
  'delete.submit': { vi: 'Xóa tài khoản', en: 'Delete my account' },
  'delete.operator': {
    vi: 'Tài khoản này có vai trò vận hành. Hãy nhờ một chủ sở hữu gỡ vai trò trước.',
    en: 'This account has an operator role. Ask an owner to remove it first.',
  },
  'delete.done': { vi: 'Tài khoản đã được xóa', en: 'Your account has been deleted' },
  'delete.done.text': {
    vi: 'Chúng tôi đã gửi thư xác nhận kèm mã số tài khoản của bạn ở đây. Cần gì thêm, hãy [liên hệ với chúng tôi](/contact).',
    en: 'We have emailed you a confirmation with your account number. If you need anything else, [contact us](/contact).',
  },
} as const satisfies Texts
