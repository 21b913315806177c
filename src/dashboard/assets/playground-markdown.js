/**
 * Turns Markdown into elements as it streams in. Text only ever becomes text, links lead only to the schemes below, pictures are
 * named but not loaded, and the language of a code block is dropped.
 */

import * as markdown from './streaming-markdown.js'

const SCHEMES = ['https:', 'http:', 'mailto:']

/** Headings begin at h4, because the page uses the first three levels itself. */
const TAGS = {
  [markdown.PARAGRAPH]: 'p',
  [markdown.HEADING_1]: 'h4',
  [markdown.HEADING_2]: 'h5',
  [markdown.HEADING_3]: 'h6',
  [markdown.HEADING_4]: 'h6',
  [markdown.HEADING_5]: 'h6',
  [markdown.HEADING_6]: 'h6',
  [markdown.CODE_BLOCK]: 'pre',
  [markdown.CODE_FENCE]: 'pre',
  [markdown.CODE_INLINE]: 'code',
  [markdown.ITALIC_AST]: 'em',
  [markdown.ITALIC_UND]: 'em',
  [markdown.STRONG_AST]: 'strong',
  [markdown.STRONG_UND]: 'strong',
  [markdown.STRIKE]: 's',
  [markdown.LINK]: 'a',
  [markdown.RAW_URL]: 'a',
  [markdown.IMAGE]: 'a',
  [markdown.LINE_BREAK]: 'br',
  [markdown.RULE]: 'hr',
  [markdown.BLOCKQUOTE]: 'blockquote',
  [markdown.LIST_UNORDERED]: 'ul',
  [markdown.LIST_ORDERED]: 'ol',
  [markdown.LIST_ITEM]: 'li',
  [markdown.TABLE]: 'table',
  [markdown.TABLE_ROW]: 'tr',
  [markdown.TABLE_CELL]: 'td',
  [markdown.EQUATION_BLOCK]: 'code',
  [markdown.EQUATION_INLINE]: 'code',
}

/** A link's URL, or null if it is not safe to follow. */
function safeAddress(text) {
  if (!URL.canParse(text)) return null
  const { protocol, href } = new URL(text)
  return SCHEMES.includes(protocol) ? href : null
}

function elementFor(token, parent) {
  const isHead = token === markdown.TABLE_CELL && parent.previousElementSibling === null
  const element = document.createElement(isHead ? 'th' : (TAGS[token] ?? 'span'))
  if (isHead) element.scope = 'col'
  // Code may scroll sideways, so the keyboard must reach it.
  if (element.tagName === 'PRE') element.tabIndex = 0
  if (token === markdown.CHECKBOX) element.textContent = '☐ '
  return element
}

function describe(element, attribute, value) {
  switch (attribute) {
    case markdown.HREF:
    case markdown.SRC: {
      const address = safeAddress(value)
      if (address === null) return
      element.href = address
      element.rel = 'noopener noreferrer nofollow'
      element.target = '_blank'
      return
    }
    case markdown.START:
      if (/^\d{1,6}$/.test(value)) element.setAttribute('start', value)
      return
    case markdown.CHECKED:
      element.textContent = '☑ '
  }
}

/**
 * The characters around tokens that the parser also sees in plain text, such as `snake_case`, `list[0]` and `*args`. It drops
 * them, so they are put back where they meant nothing.
 */
const MARKS = {
  [markdown.ITALIC_AST]: ['*', '*'],
  [markdown.ITALIC_UND]: ['_', '_'],
  [markdown.STRONG_AST]: ['**', '**'],
  [markdown.STRONG_UND]: ['__', '__'],
  [markdown.STRIKE]: ['~~', '~~'],
  [markdown.LINK]: ['[', ']'],
  [markdown.IMAGE]: ['![', ']'],
}
const WORD_END = /[\p{L}\p{N}]$/u
const WORD_START = /^[\p{L}\p{N}]/u

/** @param {() => string} pending what the parser has read but not yet understood: at the end of a token, its closing mark */
function rendererInto(root, pending) {
  const open = [{ element: root, token: null, isInWord: false }]
  /** An element whose closing `_` has just been read; it means nothing if a word goes on behind it. */
  let ended = null

  function unwrap({ element, token }, closing) {
    element.replaceWith(MARKS[token][0], ...element.childNodes, closing)
  }

  return {
    data: null,
    add_token(_data, token) {
      const parent = open.at(-1).element
      const [mark = ''] = MARKS[token] ?? []
      const isInWord = mark.startsWith('_') && WORD_END.test(parent.lastChild?.textContent ?? '')
      if (isInWord) parent.append(mark)
      const element = parent.appendChild(isInWord ? document.createElement('span') : elementFor(token, parent))
      open.push({ element, token, isInWord })
      ended = null
    },
    end_token() {
      if (open.length === 1) return
      const last = open.pop()
      const [, closing = ''] = MARKS[last.token] ?? []
      ended = null
      if (closing === '') return
      const isClosed = pending().startsWith(closing[0])
      const hasNoAddress = closing === ']' && pending() === ']'
      if (last.isInWord) last.element.append(isClosed ? closing : '')
      else if (!isClosed || hasNoAddress) unwrap(last, isClosed ? closing : '')
      else if (closing.startsWith('_')) ended = last
    },
    add_text(_data, text) {
      if (ended !== null && WORD_START.test(text)) unwrap(ended, MARKS[ended.token][1])
      ended = null
      open.at(-1).element.append(text)
    },
    set_attr: (_data, attribute, value) => describe(open.at(-1).element, attribute, value),
    /** At the end of the text, which ends no tokens. */
    end() {
      for (const last of open.splice(1)) if (last.token in MARKS && !last.isInWord) unwrap(last, '')
    },
  }
}

/** Tokens in which the parser takes every character as it stands. */
const VERBATIM = new Set([
  markdown.CODE_BLOCK,
  markdown.CODE_FENCE,
  markdown.CODE_INLINE,
  markdown.EQUATION_BLOCK,
  markdown.EQUATION_INLINE,
  markdown.RAW_URL,
])
const FORMULA = /^\$[^\s\d$][^$\n]*(?<!\s)\$(?!\d)/

/** True where the parser would begin a formula at `$`: not in code, in an address, or behind a backslash. */
function isProse({ token, pending, indent_len: indent }) {
  return !VERBATIM.has(token) && !/^(`|\]\(|\\$)/.test(pending) && indent < 4
}

/**
 * Gives the parser what it may have. A `$` that begins no formula on its line, such as that of `$HOME`, is escaped, because the
 * parser would look for the end of the formula in all the rest. Returns what has to wait for more of its line.
 */
function writeOut(parser, text, isEnd) {
  let rest = text
  for (let at = rest.indexOf('$'); at >= 0; at = rest.indexOf('$')) {
    markdown.parser_write(parser, rest.slice(0, at))
    rest = rest.slice(at)
    const isInProse = isProse(parser)
    if (isInProse && !isEnd && !/^\$[^\n]*\n|^\$.+\$./.test(rest)) return rest
    const [formula] = (isInProse && (FORMULA.exec(rest) ?? /^\$\$+/.exec(rest))) || ['$']
    markdown.parser_write(parser, isInProse && formula === '$' ? '\\$' : formula)
    rest = rest.slice(formula.length)
  }
  markdown.parser_write(parser, rest)
  return ''
}

/** Writes Markdown into `root`. After the parser has failed, text is shown as it came. */
export function markdownInto(root) {
  const renderer = rendererInto(root, () => parser.pending)
  const parser = markdown.parser(renderer)
  let isBroken = false
  let held = ''
  const attempt = (work, text) => {
    try {
      if (!isBroken) return work()
    } catch {
      isBroken = true
    }
    root.append(text)
  }
  return {
    write(text) {
      const whole = held + text
      held = ''
      attempt(() => {
        held = writeOut(parser, whole, false)
      }, whole)
    },
    end() {
      attempt(() => {
        writeOut(parser, held, true)
        markdown.parser_end(parser)
        renderer.end()
      }, held)
    },
  }
}
