/** Recognises typical tasks of coding agents: run a command, create a file, read a file, list a directory. */

export type Task =
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'create'; readonly path: string; readonly content: string }
  | { readonly kind: 'read'; readonly path: string }

const REQUEST_CHARACTERS_MAX = 20_000

const FILE_CONTENT = 'Written by a simulated model.\n'

/** Programs that are recognised as the start of a command when the text after `run` is not quoted. */
const COMMANDS =
  /^(?:\.{1,2}\/\S+|ls|pwd|cat|echo|printf|git|npm|npx|pnpm|yarn|node|deno|bun|python3?|pip3?|make|cargo|go|date|whoami|uname|df|du|ps|env|which|find|grep|rg|head|tail|wc|mkdir|touch|rm|cp|mv|curl|wget|docker|kubectl|pytest|uptime|hostname|id|true|sleep|seq|sort|tree|tsc|vitest|jest|bash|sh|java|mvn|gradle|dotnet|php|ruby)(?=\s|$)/

const QUOTED = /`([^`\n]{1,2000})`|"([^"\n]{1,2000})"|“([^”\n]{1,2000})”|(?<![\p{L}\d])'([^'\n]{1,2000})'(?![\p{L}\d])/u
const RUN = /(?<!\p{L})(?:run|execute|chạy|thực thi)(?!\p{L})/giu
const RUN_FILLER =
  /^\s*(?:(?:for me|please|the|this|following|shell|bash|terminal|command|lệnh|câu lệnh)(?!\p{L})\s*)*:?\s*/iu
/** A quoted or bare path. Its length is bounded, so that no input can make the patterns below slow. */
const PATH = String.raw`(?:["'\x60“]([^"'\x60“”\n]{1,200})["'\x60”]|([\w.@~+/\\-]{1,200}))`
const IS_PATH = /\.[A-Za-z]\w{0,9}$|[/\\][^/\\]+$|^(?:Makefile|Dockerfile|README|LICENSE)$/
const FILE = 'file|tệp|tập tin'
const CREATE = pattern(
  String.raw`(?:create|make|write|add|generate|save|tạo|viết|ghi)(?!\p{L})[^.!?\n"“\x60]{0,60}?(?<!\p{L})(?:${FILE})(?!\p{L})(?:\s+(?:called|named|có tên(?: là)?|tên(?: là)?|at|in|to|as))?\s*:?\s*`,
)
const CREATE_BARE = pattern(String.raw`(?:create|tạo)(?:\s+(?:a|an|the|new|me)){0,4}\s+`)
const NAMES_FILE = pattern(String.raw`(?:${FILE})(?!\p{L})[^\n]{0,40}?`)
const WRITE_TO = pattern(
  String.raw`(?:write|put|save|ghi|viết)\s+(?<content>[^\n]{1,500}?)\s+(?:into|in|to|vào)\s+(?:(?:a|the|new|text|${FILE}|called|named)\s+){0,5}`,
)
const READ = pattern(
  String.raw`(?:read|show|open|print|display|view|cat|what(?:'s| is) in|đọc|xem|mở)(?!\p{L})(?:\s+(?:me|the|contents?|of|nội dung|${FILE})){0,5}\s+`,
)

function pattern(before: string): RegExp {
  return new RegExp(String.raw`(?<!\p{L})${before}${PATH}`, 'iu')
}

const CONTENT =
  /(?<!\p{L})(?:with(?: the| a| this| exactly| only| just)*(?: contents?| text| lines?| words?| body| message)?|containing|that (?:says|contains|reads)|saying|contents?|text|(?:với |có )?nội dung(?: là)?|chứa)(?!\p{L})\s*[:=]?\s*/iu
const LIST =
  /(?<!\p{L})(?:list|show|liệt kê|xem)(?!\p{L})(?:\s+(?:me|all|the|tất cả|các))*\s+(?:files|tệp|tập tin|directory|thư mục)(?!\p{L})/iu
/** Matches questions about a task, which are not requests to do it. */
const ASKS_HOW =
  /^\s*(?:how|why|when|explain|should|what (?:does|do|would|happens)|can you explain|tại sao|vì sao|làm (?:sao|thế nào)|giải thích)(?!\p{L})/iu
/** Matches the start of a second task in the same request. */
const NEXT =
  /[\s,;.]+(?:and |then |rồi |sau đó )+(?:run|execute|show|tell|read|list|print|say|chạy|đọc|nói)(?!\p{L}).*$/isu

/** The task that a request asks for; null if it asks for anything else, such as an answer to a question. */
export function readTask(request: string): Task | null {
  const text = request.slice(0, REQUEST_CHARACTERS_MAX)
  if (ASKS_HOW.test(text)) return null
  return readCreate(text) ?? readRun(text) ?? readRead(text)
}

function readRun(text: string): Task | null {
  for (const match of text.matchAll(RUN)) {
    const rest = text.slice(match.index + match[0].length).replace(RUN_FILLER, '')
    const fenced = /^```\w*\n([\s\S]{1,4000}?)\n?```/.exec(rest)?.[1]
    if (fenced !== undefined) return { kind: 'run', command: fenced }
    const quoted = QUOTED.exec(rest)
    if (quoted?.index === 0) return { kind: 'run', command: firstGroup(quoted) }
    if (!COMMANDS.test(rest)) continue
    const line = rest.split('\n')[0]!.replace(NEXT, '')
    const command = line.replace(
      /\s+(?:for me|please|command|and (?:tell|show|say)\b.*|to (?:see|list|show|check|find)\b.*|in (?:the|this|my)\b.*)$/i,
      '',
    )
    return { kind: 'run', command: command.replace(/[.!?]+$/, '').trim() }
  }
  return LIST.test(text) ? { kind: 'run', command: 'ls' } : null
}

function readCreate(text: string): Task | null {
  const written = findPath(WRITE_TO, text)
  const content = written?.groups?.content ?? ''
  if (written !== null && !NAMES_FILE.test(content)) {
    const quoted = QUOTED.exec(content)
    return { kind: 'create', path: written.path, content: quoted === null ? content : firstGroup(quoted) }
  }
  const named = findPath(CREATE, text) ?? findPath(CREATE_BARE, text)
  return named === null ? null : { kind: 'create', path: named.path, content: contentIn(named.rest) }
}

/** Finds a path with a pattern whose last group captures it. Returns the path and the text after it; null if there is none. */
function findPath(search: RegExp, text: string) {
  const match = search.exec(text)
  if (match === null) return null
  const path = (match.at(-1) ?? match.at(-2) ?? '').replace(/[.,:;]+$/, '')
  return IS_PATH.test(path) ? { path, rest: text.slice(match.index + match[0].length), groups: match.groups } : null
}

/** The content that follows words like `with the text`: a fenced block, a quoted text, or the rest of the request. */
function contentIn(rest: string): string {
  const fenced = /```\w*\n([\s\S]*?)```/.exec(rest)?.[1]
  if (fenced !== undefined) return fenced
  const lead = CONTENT.exec(rest)
  if (lead === null) return FILE_CONTENT
  const text = rest.slice(lead.index + lead[0].length)
  const quoted = QUOTED.exec(text)
  if (quoted?.index === 0) return firstGroup(quoted)
  const plain = text.replace(NEXT, '').trim()
  return plain === '' ? FILE_CONTENT : plain.replace(/(?<=[^.])\.$/, '')
}

function readRead(text: string): Task | null {
  const found = findPath(READ, text)
  return found === null ? null : { kind: 'read', path: found.path }
}

function firstGroup(match: RegExpExecArray): string {
  return match.slice(1).find(group => group !== undefined) ?? ''
}
