/**
 * Renders the subset of Markdown that a page of terms needs: headings, paragraphs, lists, tables, bold, code, links. Everything
 * is escaped first, so HTML in a text is shown as text. Links may lead to http, https, mailto, tel or one of our pages; any
 * other link is shown as it was typed. Pictures are not supported.
 */

const LINK = /\[([^\][]+)\]\(([^()\s]+)\)/g
const TARGET = /^(https?:\/\/|mailto:|tel:|\/(?!\/)|#)/i
const HEADING = /^(#{1,4}) +(.+)$/
const ITEM = /^([-*]|\d{1,3}\.) +(.*)$/
const RULE = /^\|[\s:|-]+\|$/

export function renderMarkdown(source: string): string {
  const blocks = source.replaceAll('\r\n', '\n').split(/\n{2,}/)
  return blocks.map(block => renderBlock(block.split('\n').filter(line => line.trim() !== ''))).join('\n')
}

function renderBlock(lines: readonly string[]): string {
  const [first = '', second = ''] = lines
  if (lines.length === 0) return ''
  const heading = HEADING.exec(first)
  if (heading !== null) {
    const level = (heading[1] as string).length
    return `<h${level}>${renderInline(heading[2] as string)}</h${level}>\n${renderBlock(lines.slice(1))}`
  }
  if (ITEM.test(first)) return renderList(lines)
  if (first.startsWith('|') && RULE.test(second.trim())) return renderTable(lines)
  return `<p>${renderInline(lines.join('\n'))}</p>`
}

/** A line without a list marker continues the previous item. */
function renderList(lines: readonly string[]): string {
  const items: string[] = []
  for (const line of lines) {
    const item = ITEM.exec(line)
    if (item !== null) items.push(item[2] as string)
    else items[items.length - 1] += `\n${line.trim()}`
  }
  const tag = /^\d/.test(lines[0] as string) ? 'ol' : 'ul'
  return `<${tag}>${items.map(item => `<li>${renderInline(item)}</li>`).join('')}</${tag}>`
}

function renderTable([head = '', , ...rows]: readonly string[]): string {
  const cells = (line: string) =>
    line
      .trim()
      .replace(/^\||\|$/g, '')
      .split('|')
      .map(cell => renderInline(cell.trim()))
  const heads = cells(head).map(cell => `<th scope="col">${cell}</th>`)
  const body = rows.map(
    row =>
      `<tr>${cells(row)
        .map(cell => `<td>${cell}</td>`)
        .join('')}</tr>`,
  )
  return `<table><thead><tr>${heads.join('')}</tr></thead><tbody>${body.join('')}</tbody></table>`
}

function renderInline(text: string): string {
  return escapeHtml(text)
    .split(/(`[^`]+`)/)
    .map(part => (part.length > 2 && part.startsWith('`') ? `<code>${part.slice(1, -1)}</code>` : renderWords(part)))
    .join('')
}

function renderWords(escaped: string): string {
  return escaped
    .replace(LINK, (whole, words: string, target: string) =>
      TARGET.test(target) ? `<a href="${target}" rel="noreferrer">${words}</a>` : whole,
    )
    .replace(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => ENTITIES[character] as string)
}
