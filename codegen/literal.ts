/** Plain data as TypeScript source. */

const IDENTIFIER = /^[A-Za-z_$][A-Za-z0-9_$]*$/
const WIDTH = 110

/** A literal that stands on one line when it is short, else member by member; `name` may give a variable for an object. */
export function literal(
  value: unknown,
  indent = '',
  name: (value: object) => string | undefined = () => undefined,
): string {
  if (typeof value === 'string') return quote(value)
  if (value === null || typeof value !== 'object') return String(value)
  const variable = name(value)
  if (variable !== undefined) return variable
  const deeper = `${indent}  `
  const members = Array.isArray(value)
    ? value.map(item => literal(item, deeper, name))
    : Object.entries(value).map(([key, member]) => `${propertyName(key)}: ${literal(member, deeper, name)}`)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (members.length === 0) return open + close
  const space = Array.isArray(value) ? '' : ' '
  const line = open + space + members.join(', ') + space + close
  if (line.length + indent.length <= WIDTH && !line.includes('\n')) return line
  return `${open}\n${members.map(member => deeper + member).join(',\n')},\n${indent}${close}`
}

/** A computed name keeps `__proto__` a plain key. */
function propertyName(key: string): string {
  if (key === '__proto__') return `['__proto__']`
  return IDENTIFIER.test(key) ? key : quote(key)
}

function quote(text: string): string {
  const escaped = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${escaped.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')}'`
}
