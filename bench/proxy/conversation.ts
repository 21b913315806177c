/**
 * Generates format-neutral conversations of coding agents: instructions, tools with schemas, and turns with tool calls and
 * their results, in English and Vietnamese. Deterministic.
 */

export interface Tool {
  readonly name: string
  readonly description: string
  readonly schema: object
}

export interface Step {
  /** The user's message; null if the model continues by itself. */
  readonly user: string | null
  readonly assistant: string
  readonly call: { readonly id: string; readonly name: string; readonly input: object }
  readonly result: string
}

const SENTENCES = [
  'Hãy đọc tệp cấu hình trước, rồi sửa lỗi làm tròn tiền trong báo cáo tháng này.',
  'The totals of the report differ by one đồng whenever a refund falls on the last day.',
  'Chạy lại toàn bộ kiểm thử và cho tôi biết tệp nào còn hỏng, vì sao.',
  'Look at how the parser treats a missing "unit" before you change anything else.',
  'Khách hàng ở Đà Nẵng nói rằng trang hoá đơn tải rất chậm vào buổi sáng.',
  'Keep the public names as they are; two other teams import them.',
  'Nếu cần thêm cột mới thì viết một bản di trú riêng, đừng sửa bản cũ.',
  'I would rather have one clear error than three guesses at what was meant.',
] as const

const RULES = [
  'You are a coding agent that works in the repository of the person you help. Work step by step and check what you did.',
  'Read a file before you edit it. Prefer small changes that can be reviewed, and never rewrite what was not asked for.',
  'Answer in the language of the question: câu hỏi tiếng Việt thì trả lời bằng tiếng Việt, ngắn gọn và rõ ràng.',
  'Run the tests that concern the change. When one fails for another reason, say so and leave it alone.',
  'Never print secrets, tokens or personal data, and never send them to a tool that leaves this machine.',
  'Paths are relative to the root of the repository. Lines are counted from 1. Output of tools may be cut at 30,000 characters.',
  'When a task has more than three steps, keep a list of them and mark each as soon as it is done.',
  'Use absolute dates. Hôm nay là ngày 22 tháng 11 năm 2026; múi giờ Asia/Ho_Chi_Minh.',
] as const

const TOOL_NAMES = [
  'read_file',
  'write_file',
  'edit_file',
  'list_files',
  'search_text',
  'run_command',
  'fetch_page',
  'ask_person',
  'plan_tasks',
  'open_issue',
  'show_diff',
  'apply_patch',
  'query_database',
  'view_image',
  'start_server',
  'stop_server',
] as const

/** Returns prose of exactly this many bytes. */
export function prose(bytes: number): string {
  let text = ''
  let left = bytes
  for (let index = 0; left > 0; index++) {
    const sentence = `${SENTENCES[index % SENTENCES.length]} `
    const taken = Buffer.byteLength(sentence) <= left ? sentence : '.'.repeat(left)
    text += taken
    left -= Buffer.byteLength(taken)
  }
  return text
}

export function instructions(bytes: number): string {
  const lines: string[] = []
  for (let left = bytes, index = 0; left > 0; index++) {
    const line = `${index + 1}. ${RULES[index % RULES.length]}`
    lines.push(line)
    left -= Buffer.byteLength(line) + 1
  }
  return lines.join('\n')
}

export function tool(index: number): Tool {
  const name = TOOL_NAMES[index % TOOL_NAMES.length] as string
  return {
    name: index < TOOL_NAMES.length ? name : `${name}_${index}`,
    description: `${name.replace('_', ' ')}: ${RULES[(index + 5) % RULES.length]}`,
    schema: index === 0 ? SMALL_SCHEMA : LARGE_SCHEMA,
  }
}

const PATH = { type: 'string', description: 'Path of the file, relative to the root. Đường dẫn tệp.' }
const SMALL_SCHEMA = { type: 'object', properties: { path: PATH }, required: ['path'] }
const LARGE_SCHEMA = {
  type: 'object',
  properties: {
    path: PATH,
    start_line: { type: 'integer', minimum: 1, description: 'First line that is wanted.' },
    mode: { type: 'string', enum: ['text', 'lines', 'json'] },
    options: {
      type: 'object',
      properties: {
        follow: { type: 'boolean' },
        patterns: { type: 'array', items: { type: 'string' }, maxItems: 20 },
      },
      additionalProperties: false,
    },
  },
  required: ['path'],
  additionalProperties: false,
}

export function callArguments(index: number): { readonly path: string; readonly [name: string]: unknown } {
  return {
    path: `src/billing/report-${index}.ts`,
    start_line: 1 + ((index * 37) % 400),
    mode: 'lines',
    options: { follow: false, patterns: ['*.ts', 'bảng giá "*"'] },
  }
}

export function step(index: number): Step {
  return {
    user: index % 3 === 0 ? prose(120 + ((index * 53) % 300)) : null,
    assistant: prose(60 + ((index * 31) % 160)),
    call: {
      id: `call_${String(index).padStart(6, '0')}`,
      name: TOOL_NAMES[index % 6] as string,
      input: callArguments(index),
    },
    result: RESULTS[index % RESULTS.length]?.(index) ?? '',
  }
}

/** Tool results: a source file with line numbers, the coloured output of a test run, and a web service's reply. */
const RESULTS: readonly ((index: number) => string)[] = [
  index =>
    Array.from({ length: 3 + ((index * 5) % 30) }, (_, line) => {
      const number = String(line + 1 + index).padStart(5)
      return `${number}\t  const total${line} = rows.map(row => row["amount"] * ${line + 3}) // đồng, không có phần lẻ`
    }).join('\n'),
  index =>
    Array.from({ length: 4 + ((index * 5) % 17) }, (_, line) => {
      const failed = (line + index) % 7 === 0
      const mark = failed ? '\u001b[31m✗ hỏng\u001b[0m' : '\u001b[32m✓\u001b[0m'
      return `${mark} test/billing/report-${line}.test.ts (${(line * 13 + index) % 90} ms)\r\n    at "C:\\work\\report.ts":${line + 4}`
    }).join('\n'),
  index =>
    JSON.stringify(
      Array.from({ length: 2 + ((index * 5) % 9) }, (_, row) => ({
        id: index * 8 + row,
        customer: ['Nguyễn Thị Hoà', 'Trần Văn Đức', 'Lê Quỳnh Như', 'Phạm Gia Bảo'][row % 4],
        amount_vnd: 12_500 * (row + 1),
        note: row % 2 === 0 ? null : 'trả "một phần"\nphần còn lại tháng sau',
      })),
    ),
]
