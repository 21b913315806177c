/** Derives names of constants in the generated source from names in the catalogue. */

/** Names are cut to this length, so that a line has room for several. */
const LENGTH_MAX = 40

/** A cache, bounded by the number of names in the catalogue. */
const camelNames = new Map<string, string>()

/** `Claude Opus 4.5` → `claudeOpus4_5`. Empty if no character of the text is allowed in a name. */
export function camelName(text: string): string {
  const known = camelNames.get(text) ?? makeCamelName(text)
  camelNames.set(text, known)
  return known
}

function makeCamelName(text: string): string {
  const words = text.normalize('NFKD').match(/[A-Za-z0-9]+/g) ?? []
  const name = words.reduce((before, word) => {
    const lower = word.toLowerCase()
    if (before === '') return lower
    if (/[0-9]$/.test(before) && /^[0-9]/.test(lower)) return `${before}_${lower}`
    return before + lower.charAt(0).toUpperCase() + lower.slice(1)
  }, '')
  return name.slice(0, LENGTH_MAX)
}

export function pascalName(text: string): string {
  const name = camelName(text)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

/** `gpt-oss` → `GPT_OSS`. */
export function constantName(text: string): string {
  return text.replaceAll('-', '_').toUpperCase()
}

/** Name of a model's constant. It begins with the family's name, unless the model's own name already does. */
export function modelName(family: string, model: string): string {
  const first = family.split('-')[0] as string
  const name = camelName(model)
  return name.startsWith(first) ? name : `${camelName(family)}${pascalName(model)}`.slice(0, LENGTH_MAX)
}

/** Hands out each name once; repeats get a number appended. */
export class UniqueNames {
  readonly #taken = new Set<string>()

  take(wanted: string): string {
    let name = wanted
    for (let count = 2; this.#taken.has(name); count++) name = `${wanted}_${count}`
    this.#taken.add(name)
    return name
  }
}
