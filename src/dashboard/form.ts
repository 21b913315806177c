/** Form and query fields as text. All of it is untrusted: each page reads and checks what it needs. */

export class Form {
  readonly #fields: URLSearchParams

  constructor(fields: URLSearchParams = new URLSearchParams()) {
    this.#fields = fields
  }

  /** A field's first value, trimmed and without control characters; '' if absent. */
  text(name: string, charactersMax = 200): string {
    return (this.#fields.get(name) ?? '')
      .toWellFormed()
      .replace(/\p{Cc}/gu, '')
      .trim()
      .slice(0, charactersMax)
  }

  /** Like `text`, but keeps several lines. */
  lines(name: string, charactersMax: number): string {
    const lines = (this.#fields.get(name) ?? '').toWellFormed().split(/\r?\n/)
    return lines
      .map(line => line.replace(/\p{Cc}/gu, ' ').trimEnd())
      .join('\n')
      .trim()
      .slice(0, charactersMax)
      .toWellFormed()
  }

  /** The value as typed, because passwords may begin or end with a space. The caller checks its length. */
  secret(name: string): string {
    return (this.#fields.get(name) ?? '').toWellFormed()
  }

  /** The field's value if it is one of the choices; otherwise null. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | null {
    const value = this.text(name)
    return choices.find(choice => choice === value) ?? null
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  /** All fields as sent, including repeated names. */
  get entries(): readonly { readonly name: string; readonly value: string }[] {
    return [...this.#fields].map(([name, value]) => ({ name, value: value.toWellFormed() }))
  }

  get size(): number {
    return this.#fields.size
  }

  /** The same query with some fields changed; null and '' remove a field. Begins with `?` unless it is empty. */
  with(changes: Readonly<Record<string, string | null>>): string {
    const changed = new URLSearchParams(this.#fields)
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') changed.delete(name)
      else changed.set(name, value)
    }
    const text = changed.toString()
    return text === '' ? '' : `?${text}`
  }
}

/** Cuts off all but the first fields of an encoded form, because it would take milliseconds to parse thousands of them. */
export function firstFields(encoded: string, fieldsMax: number): string {
  let end = -1
  for (let fields = 0; fields < fieldsMax; fields++) {
    end = encoded.indexOf('&', end + 1)
    if (end < 0) return encoded
  }
  return encoded.slice(0, end)
}
