/** UI texts about the company and its legal duties: page footer, banner, invoice details, receipts. */

import type { Texts } from './type.ts'

export const DUTY_TEXTS = {
  'duty.contact': { vi: 'Liên hệ', en: 'Contact' },
  'duty.terms': { vi: 'Điều khoản sử dụng', en: 'Terms of use' },
  'duty.privacy': { vi: 'Quyền riêng tư', en: 'Privacy' },
  'duty.refunds': { vi: 'Hoàn tiền', en: 'Refunds' },
  'duty.complaints': { vi: 'Khiếu nại', en: 'Complaints' },
  'duty.description': {
    vi: '{page} của {service}: cổng trả trước tới các mô hình AI, tính bằng đồng Việt Nam.',
    en: '{page} of {service}, a prepaid gateway to AI models billed in Vietnamese dong.',
  },
  'duty.legal': { vi: 'Thông tin pháp lý', en: 'Legal' },
  'duty.draft': {
    vi: 'Bản nháp: người vận hành chưa duyệt văn bản này.',
    en: 'Draft: the operator has not approved this text yet.',
  },
  'duty.unset': {
    vi: 'Người vận hành chưa khai báo công ty và cách liên hệ.',
    en: 'The operator has not yet said who they are and how to reach them.',
  },
  'company.tax_code': { vi: 'Mã số thuế', en: 'Tax code' },
  'company.address': { vi: 'Địa chỉ', en: 'Address' },
  'company.representative': { vi: 'Người đại diện', en: 'Representative' },
  'company.phone': { vi: 'Điện thoại', en: 'Phone' },
  'company.zalo': { vi: 'Zalo', en: 'Zalo' },
  'frame.maintenance': {
    vi: 'Đang bảo trì: các lượt gọi API tạm thời bị từ chối. Số dư và các trang này không bị ảnh hưởng.',
    en: 'Maintenance: API calls are refused for a while. Balances and these pages are not affected.',
  },
  'operator.nav.banner': { vi: 'Thông báo', en: 'Banner' },
  'banner.lead': {
    vi: 'Dòng này hiện ở đầu mọi trang, cho mọi người, đến thời điểm bạn chọn. Khi bảo trì, các trang tự hiện thêm thông báo bảo trì.',
    en: 'Everybody sees this line at the top of every page until the time you choose. Maintenance shows a notice of its own.',
  },
  'banner.shown': { vi: 'Đang hiện', en: 'Shown now' },
  'banner.vi': { vi: 'Tiếng Việt', en: 'Vietnamese' },
  'banner.en': { vi: 'Tiếng Anh', en: 'English' },
  'banner.until': { vi: 'Đến (giờ Việt Nam)', en: 'Until (Vietnam time)' },
  'banner.show': { vi: 'Hiện thông báo', en: 'Show it' },
  'banner.clear': { vi: 'Gỡ thông báo', en: 'Remove it' },
  'banner.fault.text': { vi: 'Hãy viết thông báo bằng cả hai thứ tiếng.', en: 'Write it in both languages.' },
  'banner.fault.until': {
    vi: 'Hãy chọn một thời điểm trong {days} ngày tới.',
    en: 'Choose a time within the next {days} days.',
  },
  'operator.done.banner': { vi: 'Thông báo đang hiện trên mọi trang.', en: 'The banner is on every page.' },
  'operator.action.banner_set': { vi: 'Đặt thông báo', en: 'Set the banner' },
  'operator.action.banner_clear': { vi: 'Gỡ thông báo', en: 'Removed the banner' },
  'invoice.title': { vi: 'Thông tin xuất hóa đơn', en: 'Invoice details' },
  'invoice.lead': {
    vi: 'Dùng cho các khoản nạp từ bây giờ; khoản đã nạp giữ thông tin của lúc đó.',
    en: 'Used for top-ups from now on. Earlier ones keep the details they were made with.',
  },
  'invoice.wanted': { vi: 'Xuất hóa đơn theo thông tin này', en: 'Put these details on my invoices' },
  'invoice.name': { vi: 'Tên công ty hoặc cá nhân', en: 'Company or full name' },
  'invoice.tax_code.hint': {
    vi: '10 chữ số; chi nhánh thêm phần đuôi như -001; cá nhân nhập 12 số định danh.',
    en: '10 digits; a branch adds its suffix, such as -001. Individuals enter their 12-digit ID number.',
  },
  'invoice.email': { vi: 'Email nhận hóa đơn', en: 'Send invoices to' },
  'invoice.fault.missing': { vi: 'Hãy điền ô này.', en: 'This field is required.' },
  'invoice.fault.malformed': { vi: 'Không đúng định dạng. Hãy kiểm tra lại.', en: 'Check the format.' },
  'invoice.fault.wrong_check': {
    vi: 'Chữ số kiểm tra không khớp. Hãy xem lại; nếu đúng là mã này, lưu lần nữa.',
    en: 'The check digit is wrong. If the code is correct anyway, save again.',
  },
  'invoice.done': { vi: 'Đã lưu thông tin xuất hóa đơn.', en: 'Invoice details saved.' },
  'receipt.title': { vi: 'Biên nhận {code}', en: 'Receipt {code}' },
  'receipt.link': { vi: 'Biên nhận', en: 'Receipt' },
  'receipt.no_invoice': {
    vi: 'Đây là biên nhận, không phải hóa đơn giá trị gia tăng.',
    en: 'This is a receipt, not a VAT invoice.',
  },
  'receipt.seller': { vi: 'Bên bán', en: 'Seller' },
  'receipt.buyer': { vi: 'Bên mua', en: 'Buyer' },
  'receipt.total': { vi: 'Tổng đã nhận', en: 'Total received' },
  'receipt.print': {
    vi: 'In trang này bằng trình duyệt, hoặc lưu thành PDF.',
    en: 'Print this page in your browser, or save it as PDF.',
  },
  'receipt.print.keys': { vi: 'Phím tắt: Ctrl+P.', en: 'Shortcut: Ctrl+P.' },
} as const satisfies Texts
