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

function rendererInto(root) {
  const open = [root]
  return {
    data: null,
    add_token: (_data, token) => open.push(open.at(-1).appendChild(elementFor(token, open.at(-1)))),
    end_token: () => open.length > 1 && open.pop(),
    add_text: (_data, text) => open.at(-1).append(text),
    set_attr: (_data, attribute, value) => describe(open.at(-1), attribute, value),
  }
}

/** Writes Markdown into `root`. After the parser has failed, text is shown as it came. */
export function markdownInto(root) {
  const parser = markdown.parser(rendererInto(root))
  let isBroken = false
  const attempt = (work, text) => {
    try {
      if (!isBroken) return work()
    } catch {
      isBroken = true
    }
    root.append(text)
  }
  return {
    write: text => attempt(() => markdown.parser_write(parser, text), text),
    end: () => attempt(() => markdown.parser_end(parser), ''),
  }
}
