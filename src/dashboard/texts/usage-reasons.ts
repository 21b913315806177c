/** Texts by error code (see `src/errors.ts`): why the call failed, and what the customer can do about it. */

import type { Texts } from './type.ts'

export const USAGE_REASON_TEXTS = {
  'usage.outcome.ok': { vi: 'Thành công', en: 'Successful' },
  'usage.reason.client_gone': { vi: 'Bạn ngắt kết nối', en: 'Client disconnected' },
  'usage.cure.client_gone': {
    vi: 'Kết nối bị đóng ở phía bạn trước khi câu trả lời xong. Với streaming, phần đã gửi vẫn được tính tiền; không streaming thì mô hình đã nhận yêu cầu vẫn trả lời đến hết và cả lượt gọi được tính tiền. Nếu không cố ý, hãy tăng thời gian chờ của chương trình.',
    en: 'Your side closed the connection before the reply was complete. For streams, what was sent is charged. Without streaming, a model that has the request finishes it, and the whole call is charged. If this was not intended, raise the timeout of your program.',
  },
  'usage.reason.malformed_json': { vi: 'JSON không hợp lệ', en: 'Invalid JSON' },
  'usage.cure.malformed_json': {
    vi: 'Nội dung gửi lên không phải JSON hợp lệ. Hãy gửi một đối tượng JSON, mã hóa UTF-8.',
    en: 'The body was not valid JSON. Send one JSON object, encoded in UTF-8.',
  },
  'usage.reason.invalid_request': { vi: 'Yêu cầu không hợp lệ', en: 'Invalid request' },
  'usage.cure.invalid_request': {
    vi: 'Một trường thiếu hoặc sai. Thông báo lỗi mà chương trình của bạn nhận được cho biết trường nào.',
    en: 'A field was missing or wrong. The error that your program received says which one.',
  },
  'usage.reason.wrong_endpoint': { vi: 'Sai đường dẫn cho mô hình', en: 'Wrong endpoint for the model' },
  'usage.cure.wrong_endpoint': {
    vi: 'Mô hình này không có ở đường dẫn đã gọi. Trang [Mô hình](/models) ghi đường dẫn của từng mô hình.',
    en: 'The model is not served on this endpoint. The [models](/models) page lists the endpoints of each.',
  },
  'usage.reason.model_not_found': { vi: 'Không có mô hình này', en: 'No such model' },
  'usage.cure.model_not_found': {
    vi: 'Tên bị sai, hoặc mô hình đã ngừng phục vụ. Hãy kiểm tra trên trang [Mô hình](/models).',
    en: 'The name is wrong, or the model has been shut down. See the [models](/models) page.',
  },
  'usage.reason.upstream_refused': { vi: 'Mô hình từ chối yêu cầu', en: 'Refused by the model' },
  'usage.cure.upstream_refused': {
    vi: 'Mô hình không nhận yêu cầu này: một tham số không được hỗ trợ, hoặc nội dung bị từ chối. Thông báo lỗi mà chương trình của bạn nhận được cho biết lý do.',
    en: 'The model did not accept the request, because of an unsupported parameter or of its content. The error that your program received says why.',
  },
  'usage.reason.context_length_exceeded': { vi: 'Hội thoại quá dài', en: 'Conversation too long' },
  'usage.cure.context_length_exceeded': {
    vi: 'Hội thoại dài hơn ngữ cảnh của mô hình. Hãy rút gọn, hoặc chọn mô hình có ngữ cảnh dài hơn trên trang [Mô hình](/models).',
    en: 'The conversation exceeds the model’s context. Shorten it, or pick a model with a longer context on the [models](/models) page.',
  },
  'usage.reason.previous_response_not_found': { vi: 'Không có câu trả lời trước', en: 'No such previous response' },
  'usage.cure.previous_response_not_found': {
    vi: 'Chúng tôi không lưu câu trả lời. Hãy gửi lại toàn bộ hội thoại.',
    en: 'We store no responses. Send the whole conversation.',
  },
  'usage.reason.thread_unsupported': { vi: 'Không hỗ trợ thread', en: 'Threads not supported' },
  'usage.cure.thread_unsupported': {
    vi: 'Hãy gửi toàn bộ hội thoại trong mỗi yêu cầu.',
    en: 'Send the whole conversation with each request.',
  },
  'usage.reason.thread_not_found': { vi: 'Không có thread này', en: 'No such thread' },
  'usage.cure.thread_not_found': {
    vi: 'Hãy gửi toàn bộ hội thoại trong mỗi yêu cầu.',
    en: 'Send the whole conversation with each request.',
  },
  'usage.reason.insufficient_balance': { vi: 'Hết số dư', en: 'Balance used up' },
  'usage.cure.insufficient_balance': {
    vi: 'Hãy [nạp thêm tiền](/topup); lượt gọi tiếp theo chạy được ngay.',
    en: '[Top up](/topup); the next call works at once.',
  },
  'usage.reason.spend_cap_reached': { vi: 'Khóa API hết hạn mức', en: 'Key limit reached' },
  'usage.cure.spend_cap_reached': {
    vi: 'Khóa API đã dùng hết hạn mức của nó. Hãy nâng hạn mức trên trang [Khóa API](/keys).',
    en: 'The key has used up its own limit. Raise it on the [keys](/keys) page.',
  },
  'usage.reason.spend_cap_held': {
    vi: 'Hạn mức của khóa đang giữ cho lượt gọi khác',
    en: 'Key limit held for other calls',
  },
  'usage.cure.spend_cap_held': {
    vi: 'Phần còn lại trong hạn mức của khóa API đang được giữ cho các lượt gọi chưa xong. Hãy chờ vài giây, hoặc nâng hạn mức trên trang [Khóa API](/keys).',
    en: 'The rest of the key’s limit is set aside for calls in progress. Wait a few seconds, or raise the limit on the [keys](/keys) page.',
  },
  'usage.reason.model_not_allowed': { vi: 'Khóa không được gọi mô hình này', en: 'Model not allowed for this key' },
  'usage.cure.model_not_allowed': {
    vi: 'Khóa API này chỉ được gọi một số mô hình. Hãy thêm mô hình trên trang [Khóa API](/keys).',
    en: 'The key may only call certain models. Add this one on the [keys](/keys) page.',
  },
  'usage.reason.request_timeout': { vi: 'Gửi yêu cầu quá lâu', en: 'Request took too long to send' },
  'usage.cure.request_timeout': {
    vi: 'Nội dung yêu cầu không đến kịp. Hãy kiểm tra đường truyền rồi gọi lại.',
    en: 'The body did not arrive in time. Check your connection and call again.',
  },
  'usage.reason.request_too_large': { vi: 'Yêu cầu quá lớn', en: 'Request too large' },
  'usage.cure.request_too_large': {
    vi: 'Nội dung vượt giới hạn kích thước. Hãy gửi ảnh nhỏ hơn hoặc ít nội dung hơn.',
    en: 'The body exceeded the size limit. Send smaller images or less content.',
  },
  'usage.reason.unsupported_encoding': { vi: 'Kiểu nén không được hỗ trợ', en: 'Unsupported encoding' },
  'usage.cure.unsupported_encoding': {
    vi: 'Hãy gửi nội dung không nén, hoặc nén gzip, deflate, br hay zstd.',
    en: 'Send the body plain, or as gzip, deflate, br or zstd.',
  },
  'usage.reason.unsupported_media_type': { vi: 'Sai kiểu nội dung', en: 'Wrong content type' },
  'usage.cure.unsupported_media_type': {
    vi: 'Hãy gửi JSON với content-type: application/json.',
    en: 'Send JSON with content-type: application/json.',
  },
  'usage.reason.rate_limited': { vi: 'Vượt giới hạn số lượt gọi', en: 'Rate limit exceeded' },
  'usage.cure.rate_limited': {
    vi: 'Khóa API gọi nhiều hơn giới hạn mỗi phút hoặc cùng lúc. Hãy chờ rồi gọi lại, hoặc nâng giới hạn trên trang [Khóa API](/keys).',
    en: 'The key exceeded its limit of calls per minute or of calls at once. Wait and retry, or raise the limit on the [keys](/keys) page.',
  },
  'usage.reason.funds_held': { vi: 'Số dư đang giữ cho lượt gọi khác', en: 'Balance held for other calls' },
  'usage.cure.funds_held': {
    vi: 'Số dư còn lại đang được giữ cho các lượt gọi chưa xong. Hãy chờ vài giây, hoặc [nạp thêm](/topup).',
    en: 'The rest of the balance is set aside for calls in progress. Wait a few seconds, or [top up](/topup).',
  },
  'usage.reason.upstream_rate_limited': { vi: 'Mô hình đang bận', en: 'Model busy' },
  'usage.cure.upstream_rate_limited': {
    vi: 'Nhà cung cấp đang giới hạn tốc độ. Lượt gọi này không bị tính tiền; hãy gọi lại sau ít giây.',
    en: 'The provider is limiting the rate of calls. You were not charged; retry in a few seconds.',
  },
  'usage.reason.internal': { vi: 'Lỗi của chúng tôi', en: 'Error on our side' },
  'usage.cure.internal': {
    vi: 'Lượt gọi này không bị tính tiền. Nếu còn gặp lại, hãy [báo cho chúng tôi](/contact) kèm mã yêu cầu.',
    en: 'You were not charged. If it happens again, [tell us](/contact) the request ID.',
  },
  'usage.reason.upstream_failed': { vi: 'Mô hình không trả lời', en: 'Model did not respond' },
  'usage.cure.upstream_failed': {
    vi: 'Nhà cung cấp báo lỗi hoặc không trả lời. Lượt gọi này không bị tính tiền; hãy gọi lại.',
    en: 'The provider failed or did not respond. You were not charged; try again.',
  },
  'usage.reason.upstream_misconfigured': { vi: 'Mô hình tạm ngừng', en: 'Model unavailable' },
  'usage.cure.upstream_misconfigured': {
    vi: 'Mô hình tạm thời không dùng được và chúng tôi đã được báo. Lượt gọi này không bị tính tiền; hãy thử mô hình khác.',
    en: 'The model is unavailable for now and we have been notified. You were not charged; try another model.',
  },
  'usage.reason.upstream_overloaded': { vi: 'Mô hình quá tải', en: 'Model overloaded' },
  'usage.cure.upstream_overloaded': {
    vi: 'Nhà cung cấp quá tải. Lượt gọi này không bị tính tiền; hãy gọi lại sau.',
    en: 'The provider is overloaded. You were not charged; try again later.',
  },
  'usage.reason.ledger_unavailable': { vi: 'Tạm thời không ghi được chi phí', en: 'Billing unavailable' },
  'usage.cure.ledger_unavailable': {
    vi: 'Chúng tôi không ghi được chi phí nên không chạy lượt gọi. Bạn không bị tính tiền; hãy gọi lại.',
    en: 'Billing was unavailable, so the call was not run. You were not charged; try again.',
  },
  'usage.reason.maintenance': { vi: 'Bảo trì', en: 'Maintenance' },
  'usage.cure.maintenance': {
    vi: 'Dịch vụ đang bảo trì. Bạn không bị tính tiền; hãy gọi lại sau.',
    en: 'The service was under maintenance. You were not charged; try again later.',
  },
  'usage.reason.draining': { vi: 'Máy chủ khởi động lại', en: 'Server restarting' },
  'usage.cure.draining': {
    vi: 'Máy chủ đang khởi động lại. Bạn không bị tính tiền; hãy gọi lại.',
    en: 'The server was restarting. You were not charged; try again.',
  },
} as const satisfies Texts
