/** Texts of the playground. */

import type { Texts } from './type.ts'

export const PLAYGROUND_TEXTS = {
  'playground.title': { vi: 'Dùng thử mô hình', en: 'Playground' },
  'playground.lead': {
    vi: 'Hỏi một mô hình, hoặc so sánh hai mô hình cạnh nhau, theo dõi chi phí trong lúc trả lời, rồi lấy mã của đúng yêu cầu đó.',
    en: 'Ask one model or two side by side, watch the cost while they answer, then get the exact request as code.',
  },
  'playground.noscript': {
    vi: 'Trang này cần JavaScript. Không có JavaScript, bạn vẫn gọi được mọi mô hình theo [hướng dẫn bắt đầu nhanh](/quickstart).',
    en: 'This page needs JavaScript. Without it you can still call every model: see the [quick start](/quickstart).',
  },
  'playground.model': { vi: 'Mô hình', en: 'Model' },
  'playground.second': { vi: 'Mô hình thứ hai', en: 'Second model' },
  'playground.compare': { vi: 'So sánh hai mô hình', en: 'Compare two models' },
  'playground.settings': { vi: 'Lời nhắc hệ thống và tham số', en: 'System prompt and parameters' },
  'playground.system': { vi: 'Lời nhắc hệ thống', en: 'System prompt' },
  'playground.default': { vi: 'Mặc định', en: 'Default' },
  'playground.parameter.max_tokens': { vi: 'Số token trả lời tối đa', en: 'Max output tokens' },
  'playground.parameter.temperature': { vi: 'Nhiệt độ (temperature)', en: 'Temperature' },
  'playground.parameter.effort': { vi: 'Mức suy luận', en: 'Reasoning effort' },
  'playground.parameter.stop': { vi: 'Dừng khi gặp (mỗi dòng một chuỗi)', en: 'Stop sequences (one per line)' },
  'playground.parameter.size': { vi: 'Kích thước ảnh', en: 'Picture size' },
  'playground.parameter.n': { vi: 'Số ảnh', en: 'Number of pictures' },
  'playground.parameter.voice': { vi: 'Giọng đọc', en: 'Voice' },
  'playground.parameter.instructions': { vi: 'Cách đọc', en: 'Speaking style' },
  'playground.parameter.container': { vi: 'Định dạng âm thanh', en: 'Audio format' },
  'playground.parameter.speed': { vi: 'Tốc độ đọc', en: 'Speed' },
  'playground.format': { vi: 'Định dạng API', en: 'API format' },
  'playground.prompt': { vi: 'Tin nhắn', en: 'Message' },
  'playground.prompt.hint': { vi: 'Ctrl + Enter để gửi.', en: 'Ctrl + Enter sends it.' },
  'playground.pictures': { vi: 'Thêm ảnh', en: 'Add pictures' },
  'playground.send': { vi: 'Gửi', en: 'Send' },
  'playground.stop': { vi: 'Dừng', en: 'Stop' },
  'playground.clear': { vi: 'Bắt đầu lại', en: 'Start over' },
  'playground.spent': { vi: 'Đã dùng hôm nay:', en: 'Spent here today:' },
  'playground.stored': {
    vi: 'Chúng tôi không lưu những gì bạn nhập và câu trả lời: rời trang là mất.',
    en: 'Neither prompts nor replies are stored: they are gone when you leave the page.',
  },
  'playground.code': { vi: 'Xem mã', en: 'View code' },
  'playground.language': { vi: 'Ngôn ngữ', en: 'Language' },
  'playground.code.hint': {
    vi: 'Đây là chính yêu cầu mà trang này gửi. Thay `$KEY` bằng khóa API của bạn.',
    en: 'This is the exact request that this page sends. Replace `$KEY` with your API key.',
  },
  'playground.you': { vi: 'Bạn', en: 'You' },
  'playground.writing': { vi: 'Đang trả lời…', en: 'Answering…' },
  'playground.done': { vi: 'Đã trả lời xong.', en: 'Done.' },
  'playground.cut': {
    vi: 'Câu trả lời bị cắt vì đã chạm số token tối đa.',
    en: 'The answer was cut off at the output token limit.',
  },
  'playground.stopped': {
    vi: 'Đã dừng. Chỉ tính tiền phần đã nhận.',
    en: 'Stopped. You pay only for what has arrived.',
  },
  'playground.stopped_whole': {
    vi: 'Đã dừng chờ. Nếu mô hình vẫn hoàn thành, lượt gọi vẫn bị tính tiền; xem trang Mức sử dụng.',
    en: 'Stopped waiting. If the model still finishes, the call is billed; see Usage.',
  },
  'playground.at_most': { vi: 'Phí nhiều nhất là {name}.', en: 'It costs at most {name}.' },
  'playground.reasoning': { vi: 'Suy luận', en: 'Reasoning' },
  'playground.first_byte': { vi: 'phản hồi đầu tiên {seconds} s', en: 'first byte {seconds} s' },
  'playground.tokens': { vi: '{input} token vào, {output} token ra', en: '{input} tokens in, {output} out' },
  'playground.settling': { vi: 'đang chốt phí…', en: 'settling…' },
  'playground.total': { vi: 'đã trừ {name}', en: 'charged {name}' },
  'playground.unsettled': { vi: 'phí chính xác ở trang Mức sử dụng', en: 'see Usage for the exact cost' },
  'playground.picture': { vi: 'Ảnh', en: 'Picture' },
  'playground.remove': { vi: 'Bỏ', en: 'Remove' },
  'playground.drawn': { vi: 'Ảnh vẽ theo: {name}', en: 'Picture drawn from: {name}' },
  'playground.spoken': { vi: 'Giọng đọc của {name}', en: 'Speech by {name}' },
  'playground.no_picture': { vi: 'Câu trả lời không có ảnh.', en: 'The reply contains no picture.' },
  'playground.fault.prompt': { vi: 'Hãy viết tin nhắn.', en: 'Write a message first.' },
  'playground.fault.number': { vi: 'Hãy nhập một con số.', en: 'Enter a number.' },
  'playground.fault.picture': {
    vi: 'Chỉ nhận ảnh PNG, JPEG, WebP hoặc GIF.',
    en: 'Only PNG, JPEG, WebP and GIF pictures are accepted.',
  },
  'playground.fault.large': {
    vi: 'Tối đa 4 ảnh, mỗi ảnh không quá 3,5 MB.',
    en: 'At most 4 pictures, 3,5 MB each.',
  },
  'playground.fault.blind': {
    vi: '{name} không xem được ảnh. Hãy bỏ ảnh hoặc chọn mô hình khác.',
    en: '{name} cannot see pictures. Remove them or choose another model.',
  },
  'playground.error.401': {
    vi: 'Phiên đăng nhập đã hết. Hãy [đăng nhập lại](/signin?next=/playground).',
    en: 'You are signed out. [Sign in again](/signin?next=/playground).',
  },
  'playground.error.402': {
    vi: 'Số dư đã hết. [Nạp tiền](/topup) rồi gửi lại.',
    en: 'Your balance is used up. [Top up](/topup) and send your message again.',
  },
  'playground.error.cap': {
    vi: 'Bạn đã dùng hết {daily} của trang dùng thử hôm nay. Ngày mai lại có; hoặc gọi bằng [khóa API](/keys) của bạn.',
    en: 'You have spent the playground’s {daily} for today. Come back tomorrow, or call with an [API key](/keys) of your own.',
  },
  'playground.error.403': {
    vi: 'Yêu cầu không đến từ trang của chúng tôi. Hãy tải lại trang.',
    en: 'The request did not come from our page. Reload the page.',
  },
  'playground.error.413': {
    vi: 'Yêu cầu quá lớn. Hãy bỏ bớt ảnh hoặc bắt đầu lại.',
    en: 'The request is too large. Remove pictures or start over.',
  },
  'playground.error.429': {
    vi: 'Quá nhiều lượt gọi cùng lúc, hoặc mô hình đang bận. Hãy thử lại sau ít giây.',
    en: 'Too many calls at once, or the model is busy. Try again in a few seconds.',
  },
  'playground.error.503': {
    vi: 'Mô hình tạm thời không trả lời được. Lần này không bị tính tiền.',
    en: 'The model cannot answer at the moment. You were not charged.',
  },
  'playground.error.other': { vi: 'Yêu cầu không được chấp nhận:', en: 'The request was refused:' },
  'playground.error.network': {
    vi: 'Kết nối bị ngắt. Hãy kiểm tra mạng rồi gửi lại.',
    en: 'The connection was lost. Check your network and send your message again.',
  },
} as const satisfies Texts
