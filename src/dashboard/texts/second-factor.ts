/** UI texts for two-factor authentication and operators' roles. */

import type { Texts } from './type.ts'

export const SECOND_FACTOR_TEXTS = {
  'factor.title': { vi: 'Xác thực hai lớp', en: 'Two-factor authentication' },
  'factor.code': { vi: 'Mã sáu chữ số, hoặc mã khôi phục', en: 'Six-digit code, or a recovery code' },
  'factor.submit': { vi: 'Tiếp tục', en: 'Continue' },
  'factor.lead': {
    vi: 'Mở ứng dụng xác thực của bạn và nhập mã đang hiện.',
    en: 'Open your authenticator app and enter the code it shows.',
  },
  'factor.lost': {
    vi: 'Mất điện thoại? Nhập một mã khôi phục; mỗi mã dùng được một lần. Nếu không còn mã nào, hãy [liên hệ với chúng tôi](/contact).',
    en: 'Lost your phone? Enter a recovery code; each works once. If you have none left, [contact us](/contact).',
  },
  'factor.lost.operator': {
    vi: 'Mất điện thoại? Nhập một mã khôi phục; mỗi mã dùng được một lần. Nếu không còn mã nào, hãy nhờ một chủ sở hữu gỡ xác thực hai lớp cho bạn.',
    en: 'Lost your phone? Enter a recovery code; each works once. If you have none left, ask an owner to reset your second factor.',
  },
  'factor.throttled': {
    vi: 'Đã có quá nhiều mã sai. Hãy thử lại sau {minutes} phút, hoặc nhập một mã khôi phục ngay bây giờ.',
    en: 'Too many incorrect codes. Try again in {minutes} min, or enter a recovery code right now.',
  },
  'factor.again.title': { vi: 'Xác nhận đó là bạn', en: 'Confirm it is you' },
  'factor.again.lead': {
    vi: 'Thao tác này cần mã xác thực mới. Những gì bạn đã nhập được giữ nguyên và sẽ được gửi cùng mã.',
    en: 'Enter a fresh code to continue. What you typed is kept and will be submitted with it.',
  },
  'factor.fault.refused': { vi: 'Mã không đúng.', en: 'Incorrect code.' },
  'factor.fault.used': {
    vi: 'Mã này đã được dùng. Hãy chờ mã tiếp theo, trong vòng 30 giây.',
    en: 'This code has already been used. The next one appears within 30 seconds.',
  },
  'factor.enrol.lead': {
    vi: 'Quét mã này bằng ứng dụng xác thực trên điện thoại của bạn.',
    en: 'Scan this code with the authenticator app on your phone.',
  },
  'factor.enrol.required': {
    vi: 'Các trang vận hành chỉ mở khi tài khoản có xác thực hai lớp.',
    en: 'Operator pages require a second factor.',
  },
  'factor.enrol.why': {
    vi: 'Người biết mật khẩu của bạn vẫn không đăng nhập được nếu không có điện thoại của bạn.',
    en: 'Someone who knows your password still cannot sign in without your phone.',
  },
  'factor.enrol.qr': { vi: 'Mã QR cho ứng dụng xác thực', en: 'QR code for the authenticator app' },
  'factor.enrol.secret': { vi: 'Hoặc nhập mã này bằng tay', en: 'Or enter this key by hand' },
  'factor.enrol.code': { vi: 'Mã sáu chữ số mà ứng dụng hiện', en: 'Six-digit code that the app shows' },
  'factor.enrol.submit': { vi: 'Bật xác thực hai lớp', en: 'Turn on' },
  'factor.enrol.fault': {
    vi: 'Mã không khớp. Hãy kiểm tra đồng hồ của điện thoại và nhập mã đang hiện.',
    en: "Incorrect code. Check your phone's clock and enter the code it shows now.",
  },
  'factor.codes.title': { vi: 'Mã khôi phục', en: 'Recovery codes' },
  'factor.codes.lead': {
    vi: 'Hãy cất các mã này ở nơi an toàn, không phải trên thiết bị bạn dùng để xác thực. Mỗi mã dùng được một lần. Các mã này sẽ không hiện lại.',
    en: 'Keep these somewhere safe, not on the device you confirm with. Each works once. They cannot be shown again.',
  },
  'factor.codes.done': { vi: 'Tôi đã cất các mã', en: 'I have saved the codes' },
  'factor.state.on': { vi: 'Đang bật', en: 'On' },
  'factor.state.left': { vi: 'Còn {count} mã khôi phục chưa dùng.', en: '{count} recovery {count:code|codes} left.' },
  'factor.state.codes': { vi: 'Tạo mã khôi phục mới', en: 'Create new recovery codes' },
  'factor.state.codes.text': {
    vi: 'Các mã cũ không còn dùng được.',
    en: 'The old ones stop working.',
  },
  'factor.state.replace': { vi: 'Đổi ứng dụng xác thực', en: 'Change the authenticator' },
  'factor.state.replace.text': {
    vi: 'Cho điện thoại mới. Cái cũ vẫn dùng được cho đến khi bạn nhập mã của cái mới.',
    en: 'For a new phone. The old one works until you enter a code from the new one.',
  },
  'factor.state.off': { vi: 'Tắt xác thực hai lớp', en: 'Turn off two-factor authentication' },
  'factor.state.off.submit': { vi: 'Tắt', en: 'Turn off' },
  'factor.state.off.text': {
    vi: 'Từ đó chỉ cần một bước để đăng nhập. Mã khôi phục cũng hết hiệu lực.',
    en: 'Signing in then takes a single step. The recovery codes stop working, too.',
  },
  'operator.role.refused': {
    vi: 'Vai trò của bạn không cho phép việc này. Hãy nhờ một chủ sở hữu.',
    en: 'Your role does not allow this. Ask an owner.',
  },
  'operator.nav.team': { vi: 'Nhóm vận hành', en: 'Team' },
  'operator.role': { vi: 'Vai trò', en: 'Role' },
  'operator.role.owner': { vi: 'Chủ sở hữu', en: 'Owner' },
  'operator.role.finance': { vi: 'Tài chính', en: 'Finance' },
  'operator.role.support': { vi: 'Hỗ trợ', en: 'Support' },
  'operator.role.read-only': { vi: 'Chỉ xem', en: 'Read-only' },
  'operator.role.none': { vi: 'Không còn vai trò', en: 'No role' },
  'operator.team.lead': {
    vi: 'Ai vận hành dịch vụ và được làm gì. Người được đổi vai trò phải đăng nhập lại.',
    en: 'Who runs the service, and what they may do. People whose role changes must sign in again.',
  },
  'operator.team.explain.owner': {
    vi: 'Mọi việc, kể cả vai trò và bảo trì.',
    en: 'Everything, including roles and maintenance.',
  },
  'operator.team.explain.finance': {
    vi: 'Tiền: chuyển khoản, hoàn tiền, điều chỉnh số dư, doanh thu.',
    en: 'Money: transfers, refunds, balance adjustments, revenue.',
  },
  'operator.team.explain.support': {
    vi: 'Khách hàng: khóa API, phiên đăng nhập, ghi chú, chặn tài khoản. Không thấy doanh thu và giá vốn.',
    en: 'Customers: keys, sessions, notes, blocks. Cannot see revenue or costs.',
  },
  'operator.team.explain.read-only': { vi: 'Xem mọi thứ, không đổi gì.', en: 'Sees everything, changes nothing.' },
  'operator.team.factor': { vi: 'Xác thực hai lớp', en: 'Second factor' },
  'operator.team.factor.off': { vi: 'Chưa bật', en: 'Not set up' },
  'operator.team.you': { vi: 'Bạn', en: 'You' },
  'operator.team.change': { vi: 'Đổi', en: 'Change' },
  'operator.team.add': { vi: 'Thêm người', en: 'Add somebody' },
  'operator.team.add.text': {
    vi: 'Người đó cần có tài khoản đã xác nhận.',
    en: 'They need a confirmed account first.',
  },
  'operator.team.unknown': {
    vi: 'Không có tài khoản đã xác nhận nào với email này.',
    en: 'There is no confirmed account with this email.',
  },
  'operator.team.self': {
    vi: 'Bạn không thể đổi vai trò của chính mình; hãy nhờ một chủ sở hữu khác.',
    en: 'You cannot change your own role; ask another owner.',
  },
  'operator.team.reset': { vi: 'Gỡ xác thực hai lớp', en: 'Reset the second factor' },
  'operator.done.role': { vi: 'Đã đổi vai trò.', en: 'Role changed.' },
  'operator.done.factor': {
    vi: 'Đã gỡ xác thực hai lớp. Người này sẽ thiết lập lại khi đăng nhập lần tới.',
    en: 'Second factor reset. They set up a new one at their next sign-in.',
  },
} as const satisfies Texts
