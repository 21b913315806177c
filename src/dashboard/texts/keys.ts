/** API keys. */

import type { Texts } from './type.ts'

export const KEY_TEXTS = {
  'keys.title': { vi: 'Khóa API', en: 'API keys' },
  'keys.lead': {
    vi: 'Một khóa API gọi được mọi mô hình. Tối đa {max} khóa API đang dùng.',
    en: 'One key calls every model. At most {max} active keys.',
  },
  'keys.create': { vi: 'Tạo khóa API', en: 'Create a key' },
  'keys.label': { vi: 'Tên khóa API', en: 'Key name' },
  'keys.label.hint': {
    vi: 'Để bạn nhận ra nó, ví dụ: laptop, máy chủ.',
    en: 'Helps you recognise it, such as laptop or server.',
  },
  'keys.unnamed': { vi: 'Chưa đặt tên', en: 'Unnamed' },
  'keys.state.active': { vi: 'Đang dùng', en: 'Active' },
  'keys.state.revoked': { vi: 'Đã thu hồi', en: 'Revoked' },
  'keys.state.blocked': { vi: 'Tài khoản bị chặn', en: 'Account blocked' },
  'keys.state.disabled': { vi: 'Tạm dừng', en: 'Paused' },
  'keys.state.expired': { vi: 'Hết hạn', en: 'Expired' },
  'keys.state.spent': { vi: 'Hết hạn mức', en: 'Limit reached' },
  'keys.revoked': { vi: 'Đã thu hồi', en: 'Revoked' },
  'keys.key': { vi: 'Khóa API', en: 'Key' },
  'keys.today': { vi: 'Hôm nay', en: 'Today' },
  'keys.days30': { vi: '30 ngày', en: '30 days' },
  'keys.total': { vi: 'Tổng cộng', en: 'All time' },
  'keys.last_used': { vi: 'Dùng lần cuối', en: 'Last used' },
  'keys.never': { vi: 'Chưa dùng', en: 'Never' },
  'keys.created_at': { vi: 'Tạo lúc', en: 'Created' },
  'keys.revoked_at': { vi: 'Thu hồi lúc', en: 'Revoked' },
  'keys.none': { vi: 'Chưa có khóa API nào', en: 'No keys yet' },
  'keys.none.text': {
    vi: 'Tạo khóa API đầu tiên rồi dán vào SDK của bạn.',
    en: 'Create your first key and paste it into your SDK.',
  },
  'keys.topup_first': {
    vi: 'Bạn có thể tạo khóa API sau lần nạp tiền đầu tiên.',
    en: 'You can create keys after your first top-up.',
  },
  'keys.fault.unverified': {
    vi: 'Hãy xác nhận email trước khi tạo khóa API.',
    en: 'Confirm your email address before you create a key.',
  },
  'keys.fault.never_topped_up': {
    vi: 'Hãy nạp tiền lần đầu trước khi tạo khóa API.',
    en: 'Make your first top-up before you create a key.',
  },
  'keys.fault.limit': {
    vi: 'Bạn đã có {max} khóa API đang dùng. Hãy thu hồi một khóa API trước.',
    en: 'You have {max} active keys. Revoke one first.',
  },
  'keys.fault.gone': {
    vi: 'Biểu mẫu này đã được gửi trước đó. Xem khóa API đã tạo trong danh sách, hoặc gửi lại để tạo khóa API mới.',
    en: 'This form was already sent. Its key is in the list; send the form again to create another.',
  },
  'keys.fault.blocked': {
    vi: 'Tài khoản này đã bị chặn. Hãy [liên hệ với chúng tôi](/contact).',
    en: 'This account is blocked. Please [contact us](/contact).',
  },
  'keys.created': { vi: 'Khóa API đã sẵn sàng', en: 'Your key is ready' },
  'keys.created.tools': {
    vi: 'Dùng khóa này trong công cụ của bạn',
    en: 'Use it in your tool',
  },
  'keys.created.text': {
    vi: 'Sao chép khóa API vào nơi an toàn. Bạn có thể xem lại bằng mật khẩu của mình.',
    en: 'Copy it somewhere safe. You can view it again with your password.',
  },
  'keys.next': { vi: 'Xem cách dùng', en: 'See how to use it' },
  'keys.back': { vi: 'Về danh sách khóa API', en: 'Back to API keys' },
  'keys.settings': { vi: 'Cài đặt', en: 'Settings' },
  'keys.cap': { vi: 'Hạn mức mỗi tháng', en: 'Monthly cap' },
  'keys.cap.hint': {
    vi: 'Bằng đồng, ví dụ 500.000. Để trống là không giới hạn.',
    en: 'In dong, such as 500.000. Leave empty for no cap.',
  },
  'keys.cap.fault': {
    vi: 'Hãy nhập số tiền tròn đồng, ví dụ 500.000, hoặc để trống.',
    en: 'Enter an amount in whole dong, such as 500.000, or leave it empty.',
  },
  'keys.cap.none': { vi: 'Không giới hạn', en: 'No cap' },
  'keys.limit.spent.daily': { vi: 'Hôm nay đã dùng {spent} trong {cap}', en: '{spent} of {cap} spent today' },
  'keys.limit.spent.weekly': { vi: 'Tuần này đã dùng {spent} trong {cap}', en: '{spent} of {cap} spent this week' },
  'keys.limit.spent.monthly': { vi: 'Tháng này đã dùng {spent} trong {cap}', en: '{spent} of {cap} spent this month' },
  'keys.limit.spent.never': { vi: 'Đã dùng {spent} trong {cap}', en: '{spent} of {cap} spent' },
  'keys.rate': { vi: 'Số lượt gọi mỗi phút', en: 'Calls per minute' },
  'keys.rate.hint': {
    vi: 'Ví dụ 60; gọi nhiều hơn sẽ nhận mã 429. Để trống là không đặt giới hạn riêng.',
    en: 'For example 60. Calls above it get a 429. Leave empty for no limit.',
  },
  'keys.rate.fault': {
    vi: 'Hãy nhập số nguyên trong giới hạn cho phép, ví dụ 60, hoặc để trống.',
    en: 'Enter a whole number in the allowed range, such as 60, or leave it empty.',
  },
  'keys.rate.held': {
    vi: 'Số lượt gọi mỗi phút của khóa API này do chúng tôi đặt. Hãy [liên hệ](/contact) để thay đổi.',
    en: 'We set the calls per minute of this key. [Contact us](/contact) to change it.',
  },
  'keys.rate.value': { vi: '{count} lượt', en: '{count}' },
  'keys.rate.none': { vi: 'Không giới hạn', en: 'No limit' },
  'keys.show': { vi: 'Xem khóa API', en: 'Show the key' },
  'keys.show.password': { vi: 'Nhập mật khẩu để xem khóa API này.', en: 'Enter your password to see this key.' },
  'keys.gone': {
    vi: 'Khóa API này được tạo trước khi có bản sao mã hóa nên không thể xem lại. Hãy tạo khóa API mới.',
    en: 'This key predates encrypted copies, so it cannot be shown. Create a new one.',
  },
  'keys.gone.revoked': { vi: 'Khóa API đã thu hồi không thể xem lại.', en: 'Revoked keys cannot be shown.' },
  'keys.shown': { vi: 'Khóa API của bạn', en: 'Your key' },
  'keys.revoke': { vi: 'Thu hồi khóa API', en: 'Revoke the key' },
  'keys.revoke.text': {
    vi: 'Lượt gọi tiếp theo bằng khóa API này sẽ bị từ chối. Không thể hoàn tác.',
    en: 'Its next call will be refused. This cannot be undone.',
  },
  'keys.revoke.sure': { vi: 'Thu hồi ngay', en: 'Revoke now' },
  'keys.done.saved': { vi: 'Đã lưu.', en: 'Saved' },
  'keys.done.revoked': { vi: 'Đã thu hồi khóa API.', en: 'Key revoked.' },
  'keys.usage': { vi: 'Xem lượt gọi của khóa API này', en: 'See calls made with this key' },
} as const satisfies Texts
