/** API keys. */

import type { Texts } from './type.ts'

export const KEY_TEXTS = {
  'keys.title': { vi: 'Khóa API', en: 'API keys' },
  'keys.lead': {
    vi: 'Một khóa gọi được mọi mô hình. Tối đa {max} khóa đang dùng.',
    en: 'One key calls every model. At most {max} active keys.',
  },
  'keys.create': { vi: 'Tạo khóa', en: 'Create a key' },
  'keys.label': { vi: 'Tên khóa', en: 'Name of the key' },
  'keys.label.hint': {
    vi: 'Để bạn nhận ra nó, ví dụ: laptop, máy chủ.',
    en: 'For you to recognise it, such as laptop or server.',
  },
  'keys.unnamed': { vi: 'Chưa đặt tên', en: 'Unnamed' },
  'keys.active': { vi: 'Đang dùng', en: 'Active' },
  'keys.revoked': { vi: 'Đã thu hồi', en: 'Revoked' },
  'keys.suspended': { vi: 'Tạm ngưng', en: 'Suspended' },
  'keys.key': { vi: 'Khóa', en: 'Key' },
  'keys.today': { vi: 'Hôm nay', en: 'Today' },
  'keys.days30': { vi: '30 ngày', en: '30 days' },
  'keys.total': { vi: 'Tổng cộng', en: 'In all' },
  'keys.last_used': { vi: 'Dùng lần cuối', en: 'Last used' },
  'keys.never': { vi: 'Chưa dùng', en: 'Never' },
  'keys.created_at': { vi: 'Tạo lúc', en: 'Created' },
  'keys.revoked_at': { vi: 'Thu hồi lúc', en: 'Revoked' },
  'keys.none': { vi: 'Chưa có khóa nào', en: 'No keys yet' },
  'keys.none.text': {
    vi: 'Tạo khóa đầu tiên rồi dán vào SDK của bạn.',
    en: 'Create the first one and paste it into your SDK.',
  },
  'keys.topup_first': {
    vi: 'Khóa có thể tạo sau lần nạp tiền đầu tiên.',
    en: 'Keys can be created after the first top-up.',
  },
  'keys.fault.unverified': {
    vi: 'Hãy xác nhận e-mail trước khi tạo khóa.',
    en: 'Confirm your e-mail address before you create a key.',
  },
  'keys.fault.never_topped_up': {
    vi: 'Hãy nạp tiền lần đầu trước khi tạo khóa.',
    en: 'Top up for the first time before you create a key.',
  },
  'keys.fault.limit': {
    vi: 'Bạn đã có {max} khóa đang dùng. Hãy thu hồi một khóa trước.',
    en: 'You have {max} active keys. Revoke one first.',
  },
  'keys.fault.gone': {
    vi: 'Biểu mẫu này đã được gửi trước đó. Xem khóa đã tạo trong danh sách, hoặc gửi lại để tạo khóa mới.',
    en: 'This form was sent before. Its key is in the list; send the form again for a new one.',
  },
  'keys.fault.blocked': {
    vi: 'Tài khoản này đã bị khóa. Hãy liên hệ với chúng tôi.',
    en: 'This account is blocked. Please contact us.',
  },
  'keys.created': { vi: 'Khóa đã sẵn sàng', en: 'Your key is ready' },
  'keys.created.text': {
    vi: 'Chép khóa vào nơi an toàn. Bạn có thể xem lại bằng mật khẩu của mình.',
    en: 'Copy it to a safe place. You can see it again with your password.',
  },
  'keys.next': { vi: 'Xem cách dùng', en: 'See how to use it' },
  'keys.back': { vi: 'Về danh sách khóa', en: 'Back to the keys' },
  'keys.settings': { vi: 'Cài đặt', en: 'Settings' },
  'keys.cap': { vi: 'Hạn mức mỗi tháng', en: 'Monthly cap' },
  'keys.cap.hint': {
    vi: 'Bằng đồng, ví dụ 500.000. Để trống là không giới hạn.',
    en: 'In dong, such as 500.000. Empty means no cap.',
  },
  'keys.cap.fault': {
    vi: 'Hãy nhập số tiền tròn đồng, ví dụ 500.000, hoặc để trống.',
    en: 'Write whole dong such as 500.000, or leave it empty.',
  },
  'keys.cap.none': { vi: 'Không giới hạn', en: 'No cap' },
  'keys.cap.spent': { vi: 'Đã dùng {spent} trong {cap} tháng này', en: '{spent} of {cap} spent this month' },
  'keys.rate': { vi: 'Số lượt gọi mỗi phút', en: 'Calls per minute' },
  'keys.rate.hint': {
    vi: 'Ví dụ 60; gọi nhiều hơn sẽ nhận mã 429. Để trống là không đặt giới hạn riêng.',
    en: 'Such as 60; more calls get a 429. Empty means no limit of its own.',
  },
  'keys.rate.fault': {
    vi: 'Hãy nhập số nguyên trong giới hạn cho phép, ví dụ 60, hoặc để trống.',
    en: 'Write a whole number within what is allowed, such as 60, or leave it empty.',
  },
  'keys.rate.held': {
    vi: 'Số lượt gọi mỗi phút của khóa này do chúng tôi đặt. Hãy liên hệ để thay đổi.',
    en: 'We have set the calls per minute of this key. Contact us to change them.',
  },
  'keys.rate.value': { vi: '{count} lượt', en: '{count}' },
  'keys.rate.none': { vi: 'Không giới hạn', en: 'No limit' },
  'keys.show': { vi: 'Xem khóa', en: 'Show the key' },
  'keys.show.password': { vi: 'Nhập mật khẩu để xem khóa này.', en: 'Type your password to see this key.' },
  'keys.gone': {
    vi: 'Khóa này được tạo trước khi có bản sao mã hóa nên không thể xem lại. Hãy tạo khóa mới.',
    en: 'This key was made before encrypted copies were kept, so it cannot be shown. Create a new one.',
  },
  'keys.gone.revoked': { vi: 'Khóa đã thu hồi không thể xem lại.', en: 'A revoked key cannot be shown.' },
  'keys.shown': { vi: 'Khóa của bạn', en: 'Your key' },
  'keys.revoke': { vi: 'Thu hồi khóa', en: 'Revoke the key' },
  'keys.revoke.text': {
    vi: 'Lượt gọi tiếp theo bằng khóa này sẽ bị từ chối. Không thể hoàn tác.',
    en: 'The next call with it is refused. This cannot be undone.',
  },
  'keys.revoke.sure': { vi: 'Thu hồi ngay', en: 'Revoke it now' },
  'keys.done.saved': { vi: 'Đã lưu.', en: 'Saved.' },
  'keys.done.revoked': { vi: 'Đã thu hồi khóa.', en: 'The key is revoked.' },
  'keys.usage': { vi: 'Xem lượt gọi của khóa này', en: 'See the calls of this key' },
} as const satisfies Texts
