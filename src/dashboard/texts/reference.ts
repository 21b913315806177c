/**
 * The API reference in Vietnamese, keyed by its English text. The OpenAPI document is English, because programs read
 * it; the page shows the same sentences to people.
 */

export const REFERENCE_IN_VIETNAMESE: Readonly<Record<string, string>> = {
  'Answer in the Messages format (recommended)': 'Trả lời theo định dạng Messages (khuyên dùng)',
  'Answer in the Chat Completions format': 'Trả lời theo định dạng Chat Completions',
  'Answer in the Responses format': 'Trả lời theo định dạng Responses',
  'Generate images': 'Tạo ảnh',
  'Generate from a reference image': 'Tạo ảnh từ ảnh tham chiếu',
  'Turn text into speech': 'Đọc văn bản thành tiếng',
  'Estimate input tokens': 'Ước tính số token vào',
  'Estimate the input tokens of a Responses request': 'Ước tính số token vào của một yêu cầu Responses',
  'List models with their prices': 'Danh sách mô hình và giá',
  'One model, by id or alias': 'Một mô hình, theo mã hoặc bí danh',
  'Limits and cost of the key, and the balance': 'Hạn mức và chi phí của khóa, cùng số dư',
  'Amounts are in VND; days, weeks (from Monday) and months are those of Vietnam.':
    'Số tiền tính bằng đồng; ngày, tuần (từ thứ Hai) và tháng theo giờ Việt Nam.',
  'Every chat model can be called here, whatever its native format: the gateway converts.':
    'Mọi mô hình trò chuyện đều gọi được tại đây, dù định dạng gốc là gì: cổng tự chuyển đổi.',
  'The price is per image returned.': 'Tính giá theo từng ảnh trả về.',
  'Takes JSON, or the form (`multipart/form-data`) that official SDKs send. PNG, JPEG, WebP and GIF.':
    'Nhận JSON, hoặc biểu mẫu (`multipart/form-data`) mà các SDK chính thức gửi. PNG, JPEG, WebP và GIF.',
  'The reply is audio; the price is per call.': 'Trả về âm thanh; tính giá theo lượt gọi.',
  'Free, even with an empty balance.': 'Miễn phí, kể cả khi hết số dư.',
  'Filters: `channel`, `endpoint`, `capability`. Pages: `limit`, `after_id`, `before_id`.':
    'Lọc: `channel`, `endpoint`, `capability`. Phân trang: `limit`, `after_id`, `before_id`.',
  'A slash in the id may be written as it is or as `%2F`.':
    'Dấu gạch chéo trong mã có thể viết nguyên hoặc viết thành `%2F`.',
  'An id from the price list or one of its aliases; upper and lower case are the same. `vendor/id` names the same model.':
    'Một mã trong bảng giá hoặc bí danh của nó, không phân biệt hoa thường; `vendor/id` là cùng một mô hình.',
  'An id from the price list or one of its aliases; upper and lower case are the same. `vendor/id` names the same model. Any other name is served by a default model, at its price; `model` in the reply says which.':
    'Một mã trong bảng giá hoặc bí danh của nó, không phân biệt hoa thường; `vendor/id` là cùng một mô hình. Tên khác sẽ do một mô hình mặc định trả lời, tính theo giá của mô hình đó; `model` trong câu trả lời cho biết là mô hình nào.',
  'Maximum number of output tokens.': 'Số token ra tối đa.',
  'Maximum number of output tokens; `max_tokens` works too.': 'Số token ra tối đa; `max_tokens` cũng được.',
  'The conversation, oldest turn first.': 'Cuộc trò chuyện, lượt cũ nhất trước.',
  'Instructions that come before the conversation.': 'Chỉ dẫn đứng trước cuộc trò chuyện.',
  'Instructions that come before the input.': 'Chỉ dẫn đứng trước phần đầu vào.',
  '`true`: reply with server-sent events. Recommended for long replies.':
    '`true`: trả lời dần bằng server-sent events. Nên dùng cho câu trả lời dài.',
  '`include_usage` adds token counts to a stream.': '`include_usage` thêm số token vào luồng.',
  'Tools that the model may call.': 'Các công cụ mà mô hình được phép gọi.',
  'Whether the model must call a tool.': 'Có bắt buộc gọi công cụ hay không.',
  'How much the model may think first.': 'Mô hình được suy luận nhiều đến mức nào trước khi trả lời.',
  'Texts that end the reply.': 'Các chuỗi làm kết thúc câu trả lời.',
  'Asks for a reply in JSON, or one that follows a JSON Schema.':
    'Yêu cầu câu trả lời ở dạng JSON, hoặc theo một JSON Schema.',
  'Text, or a list of items.': 'Văn bản, hoặc danh sách các mục.',
  'Id of an image model.': 'Mã của một mô hình tạo ảnh.',
  'What to draw.': 'Nội dung cần vẽ.',
  'What to change.': 'Nội dung cần thay đổi.',
  'How many images; each is charged.': 'Số ảnh; mỗi ảnh đều tính tiền.',
  '`<width>x<height>`, such as `1024x1024`.': '`<rộng>x<cao>`, ví dụ `1024x1024`.',
  '`<width>x<height>`.': '`<rộng>x<cao>`.',
  'Reference image: a data URL, base64, or a public address. Or call it `image_url`, `reference_image`, `ref_image`; give exactly one.':
    'Ảnh tham chiếu: data URL, base64 hoặc địa chỉ công khai. Cũng có thể đặt tên `image_url`, `reference_image`, `ref_image`; chỉ gửi đúng một.',
  'Id of a speech model.': 'Mã của một mô hình giọng nói.',
  'Text to read aloud.': 'Văn bản cần đọc.',
  'Name of a voice, such as `alloy`.': 'Tên giọng đọc, ví dụ `alloy`.',
  'Such as `mp3` or `wav`.': 'Ví dụ `mp3` hoặc `wav`.',
  'From 0.25 to 4.': 'Từ 0.25 đến 4.',
  'As in the Messages format.': 'Như trong định dạng Messages.',
  'The reply, which is charged.': 'Câu trả lời. Có tính tiền.',
  'The reply, which is free.': 'Câu trả lời. Miễn phí.',
}

/** What each error status means, in Vietnamese. The page shows it after the names of the error types that have this status. */
export const STATUSES_IN_VIETNAMESE: Readonly<Record<string, string>> = {
  400: 'Yêu cầu không hợp lệ; thông báo lỗi cho biết phải sửa gì.',
  401: 'Khóa API sai, thiếu, đã thu hồi, tạm dừng hoặc hết hạn.',
  402: 'Hết số dư hoặc khóa đã hết hạn mức; nạp thêm hoặc nâng hạn mức, khóa giữ nguyên.',
  403: 'Khóa API này không được gọi mô hình này.',
  404: 'Không có mô hình hoặc địa chỉ này.',
  413: 'Yêu cầu quá lớn.',
  429: 'Quá nhiều lượt gọi; thử lại sau thời gian ghi trong `retry-after`.',
  502: 'Nhà cung cấp gặp lỗi; không tính tiền.',
  503: 'Tạm thời không phục vụ được; thử lại sau.',
}
