import type { Texts } from './type.ts'

export const PASSKEY_TEXTS = {
  'passkey.title': { vi: 'Khóa truy cập (passkey)', en: 'Passkeys' },
  'passkey.text': {
    vi: 'Xác nhận bằng vân tay, khuôn mặt, mã PIN của thiết bị hoặc khóa bảo mật, không phải gõ mã. Trang giả mạo không dùng được.',
    en: 'Confirm with a fingerprint, your face, the device’s PIN or a security key instead of typing a code. Fake sites cannot use it.',
  },
  'passkey.add': { vi: 'Thêm khóa truy cập', en: 'Add a passkey' },
  'passkey.first': { vi: 'Dùng khóa truy cập thay cho ứng dụng', en: 'Use a passkey instead of an app' },
  'passkey.first.app': { vi: 'Dùng ứng dụng xác thực thay cho khóa truy cập', en: 'Use an authenticator app instead' },
  'passkey.name': { vi: 'Tên', en: 'Name' },
  'passkey.name.hint': {
    vi: 'Để bạn nhận ra trong danh sách, ví dụ “Máy tính ở văn phòng”.',
    en: 'So that you recognise it in the list, such as “office laptop”.',
  },
  'passkey.name.default': { vi: 'Khóa truy cập', en: 'Passkey' },
  'passkey.create': { vi: 'Tạo khóa truy cập', en: 'Create the passkey' },
  'passkey.use': { vi: 'Dùng khóa truy cập', en: 'Use a passkey' },
  'passkey.or': { vi: 'hoặc', en: 'or' },
  'passkey.added': { vi: 'Thêm lúc', en: 'Added' },
  'passkey.used': { vi: 'Dùng lần cuối', en: 'Last used' },
  'passkey.used.never': { vi: 'Chưa dùng', en: 'Never' },
  'passkey.actions': { vi: 'Thao tác', en: 'Actions' },
  'passkey.remove': { vi: 'Gỡ', en: 'Remove' },
  'passkey.none': { vi: 'Chưa có khóa nào.', en: 'None yet.' },
  'passkey.last': {
    vi: 'Đây là lớp thứ hai duy nhất của bạn. Trước khi gỡ, hãy thêm khóa khác hoặc ứng dụng xác thực.',
    en: 'This is your only second factor. Add another passkey or an authenticator app before you remove it.',
  },
  'passkey.full': {
    vi: 'Tài khoản của bạn đã có {count} khóa, là số tối đa. Hãy gỡ một khóa trước.',
    en: 'You have {count} passkeys, the most an account may have. Remove one first.',
  },
  'passkey.taken': {
    vi: 'Khóa truy cập này đã được đăng ký rồi. Hãy dùng khóa khác.',
    en: 'This passkey is already in use.',
  },
  'passkey.expired': {
    vi: 'Yêu cầu đã hết hạn hoặc đã được dùng. Hãy thử lại.',
    en: 'The request expired or was already used. Try again.',
  },
  'passkey.refused': {
    vi: 'Không xác nhận được khóa này. Hãy thử lại, hoặc nhập mã.',
    en: 'This passkey could not be confirmed. Try again, or enter a code.',
  },
  'passkey.copied': {
    vi: 'Khóa truy cập này có thể đã bị sao chép nên chúng tôi không chấp nhận. Hãy dùng cách khác rồi gỡ khóa này.',
    en: 'This passkey may have been copied, so we refused it. Use another method, then remove it.',
  },
  'passkey.cancelled': {
    vi: 'Đã hủy hoặc hết giờ. Hãy thử lại.',
    en: 'Cancelled, or it took too long. Try again.',
  },
  'passkey.known': { vi: 'Thiết bị này đã có khóa của bạn.', en: 'This device already has a passkey of yours.' },
  'passkey.failed': {
    vi: 'Không dùng được khóa truy cập lúc này. Hãy thử lại, hoặc dùng mã.',
    en: 'Passkeys do not work right now. Try again, or use a code.',
  },
  'passkey.unsupported': {
    vi: 'Trình duyệt này không hỗ trợ khóa truy cập. Hãy dùng mã.',
    en: 'This browser does not support passkeys. Use a code.',
  },
  'passkey.no_script': {
    vi: 'Khóa truy cập cần JavaScript. Không có JavaScript, hãy dùng mã từ ứng dụng xác thực hoặc mã khôi phục.',
    en: 'Passkeys need JavaScript. Without it, use a code from an authenticator app or a recovery code.',
  },
  'passkey.done.added': { vi: 'Đã thêm khóa truy cập.', en: 'Passkey added.' },
  'passkey.done.removed': { vi: 'Đã gỡ khóa truy cập.', en: 'Passkey removed.' },
  'factor.lead.passkey': {
    vi: 'Dùng khóa truy cập, hoặc nhập mã đang hiện trong ứng dụng xác thực của bạn.',
    en: 'Use your passkey, or enter the code that your authenticator app shows.',
  },
  'factor.lead.passkey_only': {
    vi: 'Dùng khóa truy cập, hoặc nhập một mã khôi phục.',
    en: 'Use your passkey, or enter a recovery code.',
  },
  'factor.code.recovery': { vi: 'Mã khôi phục', en: 'Recovery code' },
  'factor.state.app': { vi: 'Ứng dụng xác thực', en: 'Authenticator app' },
  'factor.state.app.none': {
    vi: 'Mã sáu chữ số từ điện thoại, cho những nơi không dùng được khóa truy cập. Bạn sẽ nhận mã khôi phục mới.',
    en: 'A six-digit code from your phone, for places where passkeys do not work. You will get new recovery codes.',
  },
  'factor.state.app.add': { vi: 'Thiết lập ứng dụng', en: 'Set up an app' },
} as const satisfies Texts
