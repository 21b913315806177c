/** Texts of the operators' home page. */

import type { Texts } from './type.ts'

export const OPERATOR_HOME_TEXTS = {
  'operator.home.attention': { vi: 'Cần xem ngay', en: 'Needs attention' },
  'operator.home.attention.none': { vi: 'Không có gì cần xử lý.', en: 'Nothing needs attention.' },
  'operator.home.today': { vi: 'Hôm nay', en: 'Today' },
  'operator.home.before': { vi: 'Giờ này {weekday} tuần trước: {value}', en: 'By this time last {weekday}: {value}' },
  'operator.home.month': { vi: '30 ngày: {value}', en: '30 days: {value}' },
  'operator.home.revenue': { vi: 'Doanh thu', en: 'Revenue' },
  'operator.home.cost': { vi: 'Giá vốn', en: 'Cost' },
  'operator.home.margin': { vi: 'Lãi', en: 'Margin' },
  'operator.home.money_in': { vi: 'Tiền khách nạp', en: 'Money in' },
  'operator.home.calls': { vi: 'Lượt gọi', en: 'Calls' },
  'operator.home.errors': { vi: 'Lượt gọi lỗi', en: 'Errors' },
  'operator.home.errors.share': { vi: '{share} hôm nay', en: '{share} of today’s calls' },
  'operator.home.tokens': { vi: 'Token', en: 'Tokens' },
  'operator.home.customers': { vi: 'Khách mới', en: 'New customers' },
  'operator.home.holds': { vi: 'Khoản giữ đang mở', en: 'Open holds' },
  'operator.home.holds.sum': { vi: 'tổng {amount}', en: '{amount} in total' },
  'operator.home.audit.last': { vi: 'Lần cuối {time}: không có sai lệch.', en: 'Last run {time}: no differences.' },
  'operator.home.audit.dirty': { vi: 'Lần cuối {time}: có sai lệch.', en: 'Last run {time}: there were differences.' },
  'operator.home.audit.full': { vi: 'Toàn bộ sổ: {time}.', en: 'Whole journal: {time}.' },
  'operator.weekday.0': { vi: 'Chủ nhật', en: 'Sunday' },
  'operator.weekday.1': { vi: 'thứ Hai', en: 'Monday' },
  'operator.weekday.2': { vi: 'thứ Ba', en: 'Tuesday' },
  'operator.weekday.3': { vi: 'thứ Tư', en: 'Wednesday' },
  'operator.weekday.4': { vi: 'thứ Năm', en: 'Thursday' },
  'operator.weekday.5': { vi: 'thứ Sáu', en: 'Friday' },
  'operator.weekday.6': { vi: 'thứ Bảy', en: 'Saturday' },
  'operator.attention.maintenance': { vi: 'Đang bảo trì', en: 'Maintenance is on' },
  'operator.attention.maintenance.detail': {
    vi: 'Mọi lượt gọi mới bị từ chối.',
    en: 'New calls are refused everywhere.',
  },
  'operator.attention.audit': { vi: 'Đối soát có sai lệch', en: 'The audit found differences' },
  'operator.attention.audit.detail': { vi: '{time}: {rules}', en: '{time}: {rules}' },
  'operator.attention.spools': {
    vi: 'Hàng đợi trên đĩa có dòng chưa ghi được vào sổ',
    en: 'Spool with lines set aside',
  },
  'operator.attention.spools.detail': {
    vi: 'Số dòng: {lines}, số tệp: {files}, trong {folders}',
    en: 'Lines: {lines}, files: {files}, in {folders}',
  },
  'operator.attention.upstream': { vi: '{id} đang lỗi', en: '{id} is failing' },
  'operator.attention.upstream.detail': { vi: '{why}', en: '{why}' },
  'operator.attention.upstream.share': {
    vi: '{share} lần thử bị lỗi trong giờ vừa qua',
    en: '{share} of attempts failed in the last hour',
  },
  'operator.attention.upstream_out': { vi: '{id} đã ngừng dùng', en: '{id} is out of service' },
  'operator.attention.upstream_out.detail': { vi: 'Đến {time}: {reason}', en: 'Until {time}: {reason}' },
  'operator.attention.transfers': { vi: 'Chuyển khoản chưa khớp: {count}', en: 'Unmatched transfers: {count}' },
  'operator.attention.transfers.detail': {
    vi: 'Tổng cộng {amount}, chưa rõ của khách nào.',
    en: '{amount} in total, owners unknown.',
  },
  'operator.attention.failing': {
    vi: 'Khách có nhiều lượt gọi lỗi: {count}',
    en: 'Customers with many failed calls: {count}',
  },
  'operator.attention.failing.detail': {
    vi: 'Lượt gọi lỗi trên tổng số lượt gọi hôm nay:',
    en: 'Failed calls out of all calls today:',
  },
  'operator.attention.empty': {
    vi: 'Khách hết tiền mà vẫn gọi: {count}',
    en: 'Customers out of money, still calling: {count}',
  },
  'operator.attention.empty.detail': { vi: 'Lượt gọi hôm nay:', en: 'Calls today:' },
  'operator.attention.losses': { vi: 'Mô hình bán dưới giá vốn: {count}', en: 'Models that sell below cost: {count}' },
  'operator.attention.losses.detail': {
    vi: 'Lỗ {amount} trong {days} ngày qua:',
    en: '{amount} lost in the last {days} days:',
  },
  'operator.attention.endings': {
    vi: 'Mô hình sẽ ngừng trong {days} ngày tới: {count}',
    en: 'Models retiring within {days} days: {count}',
  },
  'operator.attention.endings.detail': { vi: 'Ngày ngừng:', en: 'On these days:' },
  'operator.attention.unknown': {
    vi: 'Tên mô hình lạ được trả lời thay: {count}',
    en: 'Unknown model names that the fallback served: {count}',
  },
  'operator.attention.unknown.detail': {
    vi: '{calls} lượt gọi trong {days} ngày qua:',
    en: 'Calls in the last {days} days: {calls}.',
  },
  'operator.attention.more': { vi: 'và {count} nữa', en: 'and {count} more' },
} as const satisfies Texts
