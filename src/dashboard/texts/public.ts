/** Texts of the landing page and the API reference. */

import type { Texts } from './type.ts'

export const PUBLIC_TEXTS = {
  'landing.title': {
    vi: 'Một khóa API cho mọi mô hình AI, trả bằng tiền Việt',
    en: 'One key for every AI model, paid in dong',
  },
  'landing.heading': {
    vi: 'Một khóa API. {count} mô hình AI. Trả bằng tiền Việt.',
    en: 'One key. {count} AI models. Paid in dong.',
  },
  'landing.lead': {
    vi: 'Giữ nguyên SDK bạn đang dùng, chỉ đổi địa chỉ và khóa API. Mỗi lượt gọi trừ vào số dư trả trước, chính xác từng token, không phí tháng.',
    en: 'Keep the SDK you already use; just change the base URL and the key. Each call is charged to your prepaid balance, exact to the token, with no monthly fee.',
  },
  'landing.receipt.title': { vi: 'Phiếu tính tiền một lượt gọi', en: 'Receipt for one call' },
  'landing.receipt.input': { vi: 'Token vào', en: 'Input tokens' },
  'landing.receipt.output': { vi: 'Token ra', en: 'Output tokens' },
  'landing.receipt.price': { vi: 'Đơn giá', en: 'Unit price' },
  'landing.receipt.total': { vi: 'Trừ vào số dư', en: 'Charged' },
  'landing.change': { vi: 'Chỉ hai dòng thay đổi', en: 'Only two lines change' },
  'landing.steps': { vi: 'Ba bước để bắt đầu', en: 'Three steps to your first call' },
  'landing.step1.title': { vi: 'Tạo tài khoản', en: 'Create an account' },
  'landing.step1.text': { vi: 'Chỉ cần email và mật khẩu.', en: 'All you need is an email address and a password.' },
  'landing.step2.title': { vi: 'Quét mã QR để nạp', en: 'Scan a QR code to top up' },
  'landing.step2.text': {
    vi: 'Chuyển khoản từ 50.000 ₫. Tiền vào là dùng được ngay, và không hết hạn.',
    en: 'Bank transfer from 50.000 ₫. Ready to use as soon as it arrives, and it never expires.',
  },
  'landing.step3.title': { vi: 'Đổi địa chỉ và khóa API', en: 'Change the base URL and key' },
  'landing.step3.text': {
    vi: 'Mã nguồn của bạn giữ nguyên. Cùng một khóa API gọi được mọi mô hình.',
    en: 'Your code stays as it is. The same key calls every model.',
  },
  'landing.families': { vi: 'Các dòng mô hình', en: 'Model families' },
  'landing.families.text': {
    vi: 'Giá cho token vào và token ra như nhau. Nhiều mô hình cũng có giá cố định theo lượt gọi.',
    en: 'Input and output tokens cost the same. Many models also have a fixed price per call.',
  },
  'landing.family': { vi: 'Dòng', en: 'Family' },
  'landing.family.count': { vi: 'Số mô hình', en: 'Models' },
  'landing.family.token': { vi: 'Theo token, từ', en: 'By token, from' },
  'landing.family.call': { vi: 'Theo lượt gọi, từ', en: 'By call, from' },
  'landing.family.images': { vi: 'Tạo ảnh', en: 'Images' },
  'landing.family.speech': { vi: 'Giọng nói', en: 'Speech' },
  'landing.why': { vi: 'Bạn có thể yên tâm', en: 'What you can rely on' },
  'landing.why1.title': { vi: 'Không bao giờ âm tiền', en: 'Never below zero' },
  'landing.why1.text': {
    vi: 'Dùng đến 0 đồng là dừng. Không nợ, không có hóa đơn bất ngờ.',
    en: 'Calls stop when your balance reaches exactly zero. No debt, no surprise bill.',
  },
  'landing.why2.title': { vi: 'Lỗi thì không tính tiền', en: 'Failures are free' },
  'landing.why2.text': {
    vi: 'Sai khóa API, yêu cầu không hợp lệ và lỗi của nhà cung cấp đều không bị trừ tiền.',
    en: 'You are not charged for wrong keys, invalid requests or provider errors.',
  },
  'landing.why3.title': { vi: 'Không lưu nội dung', en: 'Your content is not stored' },
  'landing.why3.text': {
    vi: 'Chúng tôi chỉ ghi thời gian, mô hình, số token, chi phí và mã trạng thái.',
    en: 'We record the time, model, token counts, cost and status, but nothing of your prompts or replies.',
  },
  'landing.why4.title': { vi: 'Ba định dạng, mọi mô hình', en: 'Three formats, every model' },
  'landing.why4.text': {
    vi: 'Messages, Chat Completions hay Responses đều gọi được mọi mô hình trò chuyện, kể cả gọi công cụ và streaming.',
    en: 'Messages, Chat Completions and Responses each reach every chat model, with tools and streaming.',
  },
  'reference.title': { vi: 'Tài liệu API', en: 'API reference' },
  'reference.description': {
    vi: 'Tài liệu API: Messages, Chat Completions, Responses, tạo ảnh và giọng nói, kèm ví dụ chạy được ngay.',
    en: 'API reference: Messages, Chat Completions, Responses, images and speech, with examples that run.',
  },
  'reference.lead': {
    vi: 'Gửi khóa API trong `x-api-key` hoặc `Authorization: Bearer`, cách nào cũng được ở mọi địa chỉ.',
    en: 'Send the key as `x-api-key` or as `Authorization: Bearer`; either works everywhere.',
  },
  'reference.document': { vi: 'Tải mô tả OpenAPI 3.1', en: 'OpenAPI 3.1 document' },
  'reference.fields': { vi: 'Trường của yêu cầu', en: 'Request fields' },
  'reference.required': { vi: 'bắt buộc', en: 'required' },
  'reference.answers': { vi: 'Trả lời', en: 'Responses' },
  'reference.body': { vi: 'Nội dung JSON', en: 'JSON body' },
  'reference.key': { vi: 'Khóa API', en: 'API key' },
  'reference.key.hint': {
    vi: 'Chỉ nằm trong trang này, không được lưu. Lượt gọi thành công bị tính tiền như thường.',
    en: 'It stays on this page and is not stored. Successful calls are charged as usual.',
  },
  'reference.send': { vi: 'Gửi', en: 'Send' },
  'reference.reply': { vi: 'Kết quả', en: 'Reply' },
  'reference.sending': { vi: 'Đang gọi…', en: 'Calling…' },
  'reference.failed': { vi: 'Không gọi được máy chủ.', en: 'The server could not be reached.' },
} as const satisfies Texts
