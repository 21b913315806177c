import type { Texts } from './type.ts'

export const QUICK_START_TEXTS = {
  'quickstart.title': { vi: 'Bắt đầu nhanh', en: 'Quick start' },
  'quickstart.description': {
    vi: 'Mã mẫu cho curl, Python, TypeScript và các công cụ lập trình AI: chỉ đổi địa chỉ và khóa API.',
    en: 'Snippets for curl, Python, TypeScript and AI coding tools: change the base URL and the key, nothing else.',
  },
  'quickstart.lead': {
    vi: 'Sao chép đoạn mã cho công cụ của bạn và thay `$KEY` bằng khóa API. Ngay sau khi tạo khóa API, bạn thấy các đoạn này với khóa đã điền sẵn.',
    en: 'Copy the snippet for your tool and replace `$KEY` with your API key. Right after you create a key, you see the snippets with the key filled in.',
  },
  'quickstart.base': { vi: 'Địa chỉ gốc nào?', en: 'Which base URL?' },
  'quickstart.base.messages': { vi: 'Công cụ kiểu Messages', en: 'Messages-style clients' },
  'quickstart.base.chat': {
    vi: 'Công cụ kiểu Chat Completions và Responses',
    en: 'Clients for Chat Completions and Responses',
  },
  'quickstart.base.hint': {
    vi: 'Nhận lỗi 404? Thêm hoặc bỏ `/v1` ở cuối địa chỉ.',
    en: 'Getting a 404? Add `/v1` to the end of the base URL, or remove it.',
  },
  'quickstart.get_key': { vi: 'Lấy khóa API', en: 'Get an API key' },
  'quickstart.shell': { vi: 'Dòng lệnh', en: 'Command line' },
  'quickstart.editor.text': {
    vi: 'Trong phần cài đặt chọn nhà cung cấp {provider} rồi điền:',
    en: 'In the settings, choose the provider {provider}, then fill in:',
  },
  'quickstart.sdk.image': { vi: 'Tạo ảnh', en: 'Create an image' },
  'quickstart.check': { vi: 'Kiểm tra kết nối', en: 'Check the connection' },
  'quickstart.check.200': {
    vi: 'Sẵn sàng. Chi phí nằm trong header `{header}`.',
    en: 'Ready. The cost is in the header `{header}`.',
  },
  'quickstart.check.401': {
    vi: 'Khóa API sai, thiếu, đã thu hồi, tạm dừng hoặc hết hạn.',
    en: 'The key is wrong, missing, revoked, paused or expired.',
  },
  'quickstart.check.402': {
    vi: 'Hết số dư: nạp thêm, khóa API giữ nguyên. Hoặc khóa API đã hết hạn mức: nâng hạn mức trên trang [Khóa API](/keys).',
    en: 'No balance left: top up, your key stays the same. Or the key has spent its limit: raise it on the [keys](/keys) page.',
  },
  'quickstart.check.403': {
    vi: 'Khóa API này không được gọi mô hình đó: thêm mô hình trên trang [Khóa API](/keys).',
    en: 'This key may not call that model: allow it on the [keys](/keys) page.',
  },
  'quickstart.check.404': { vi: 'Sai địa chỉ gốc: thêm hoặc bỏ `/v1`.', en: 'Wrong base URL: add or remove `/v1`.' },
  'quickstart.check.429': {
    vi: 'Quá nhiều lượt gọi mỗi phút hoặc cùng lúc: chờ số giây ghi trong header `retry-after` rồi gọi lại.',
    en: 'Too many calls per minute or at once: wait for the seconds in the header `retry-after`, then call again.',
  },
  'quickstart.tools': { vi: 'Công cụ', en: 'Tools' },
  'quickstart.group.agents': { vi: 'Trợ lý lập trình', en: 'Coding agents' },
  'quickstart.group.libraries': { vi: 'Lập trình', en: 'Programming' },
  'quickstart.group.apps': { vi: 'Ứng dụng', en: 'Apps' },
  'quickstart.claude_code': {
    vi: 'Mọi mã mô hình trong bảng giá đều dùng được. Đừng bỏ dòng `ANTHROPIC_DEFAULT_HAIKU_MODEL`: Claude Code tự gọi một mô hình nhỏ cho việc vặt, và nếu không đặt thì đó là {small}. Ở đây chúng tôi đặt {cheap}.',
    en: 'Any id in the price list works. Keep the line `ANTHROPIC_DEFAULT_HAIKU_MODEL`: Claude Code uses a small model for minor tasks. Without that line it would be {small}; here it is {cheap}.',
  },
  'quickstart.codex': {
    vi: 'Dùng được với mọi mô hình trò chuyện trong bảng giá, không chỉ GPT: chỉ cần đổi `model`. Tên không có trong bảng giá sẽ do {fallback} trả lời và tính theo giá đó.',
    en: 'Works with every chat model in the price list, not only GPT: just change `model`. A name that is not in the list is served by {fallback}, at its price.',
  },
  'quickstart.more_models': {
    vi: 'Thêm mã mô hình khác vào danh sách nếu cần. Việc vặt dùng {cheap}.',
    en: 'Add other ids to the list as you like. Minor tasks use {cheap}.',
  },
  'quickstart.qwen_code': {
    vi: 'Thêm mã mô hình khác vào danh sách nếu cần, và đổi giữa chúng bằng `/model`.',
    en: 'Add other ids to the list as you like, and switch between them with `/model`.',
  },
  'quickstart.aider': {
    vi: 'Viết `openai/` trước mã mô hình: đó là cách aider nhận ra địa chỉ này. `--weak-model` viết thông điệp commit bằng {cheap}.',
    en: 'Put `openai/` in front of the id: it tells aider to use this address. `--weak-model` writes commit messages with {cheap}.',
  },
  'quickstart.cursor': {
    vi: 'Mở Settings → Models, thêm mã mô hình, bật “OpenAI API Key” và “Override OpenAI Base URL”. Cursor gọi từ máy chủ của họ, nên địa chỉ phải truy cập được từ Internet.',
    en: 'Open Settings → Models, add the id, and turn on “OpenAI API Key” and “Override OpenAI Base URL”. Cursor calls from its own servers, so the address must be reachable from the internet.',
  },
  'quickstart.ai_sdk': {
    vi: 'Với `@ai-sdk/anthropic`, địa chỉ cũng phải có `/v1`.',
    en: 'With `@ai-sdk/anthropic` too, the base URL ends in `/v1`.',
  },
  'quickstart.llm': {
    vi: 'Tệp nằm trong thư mục mà `dirname "$(llm logs path)"` in ra.',
    en: 'The file belongs in the folder that `dirname "$(llm logs path)"` prints.',
  },
  'quickstart.open_webui': {
    vi: 'Các biến này chỉ được đọc ở lần khởi động đầu tiên; về sau hãy đổi kết nối trong Admin Settings → Connections. `TASK_MODEL_EXTERNAL` đặt {cheap} cho tiêu đề và gợi ý; nếu không, mô hình đang trò chuyện làm việc đó.',
    en: 'Open WebUI reads these variables on its first start only; after that, change the connection in Admin Settings → Connections. `TASK_MODEL_EXTERNAL` leaves titles and suggestions to {cheap}; without it, the model of the chat writes them.',
  },
  'quickstart.n8n': {
    vi: 'Tạo credential OpenAI với địa chỉ này, rồi chọn nó trong node OpenAI Chat Model.',
    en: 'Create an OpenAI credential with this base URL and select it in an OpenAI Chat Model node.',
  },
  'quickstart.tag': { vi: 'Gắn nhãn lượt gọi', en: 'Tag your calls' },
  'quickstart.tag.text': {
    vi: 'Gửi header `{header}` với một nhãn ngắn, như `du-an-a/ci`: trang Mức sử dụng lọc và cộng theo nhãn. Nhãn chỉ được lưu ở đây, không gửi tới nhà cung cấp.',
    en: 'Send the header `{header}` with a short tag such as `project-a/ci`: the usage page filters by tag and adds up the calls of each. Tags stay here; providers never get them.',
  },
} as const satisfies Texts
