/** The `sandbox:` words in a prompt that make the sandbox misbehave: one table for parsing and help text. */

interface WordRow {
  readonly word: string
  /** What may follow `=`; null when the word takes no value. */
  readonly value: string | null
  readonly pattern: RegExp | null
  readonly effect: string
}

const WHOLE_NUMBER = /^\d{1,7}$/

export const WORDS = [
  {
    word: 'error',
    // Faults repeat this. With `insufficient_quota` in it, the gateway would take the fault for a problem of the operator's.
    value: '400, 401, 403, 404, 413, 429, 500, 502, 503, 529 or a name',
    pattern: /^(400|401|403|404|413|429|500|502|503|529|insufficient_quota)$/,
    effect:
      "Answers with this status and the provider's own error body, instead of a reply; with the name `insufficient_quota`, as for an account without credit.",
  },
  {
    word: 'retry-after',
    value: 'seconds',
    pattern: WHOLE_NUMBER,
    effect: 'Adds a `retry-after` header to the error of `sandbox:error`.',
  },
  {
    word: 'hang',
    value: 'nothing, or `stream`',
    pattern: /^stream$/,
    effect: 'Never answers; with `=stream` it stops in the middle of the stream and stays silent.',
  },
  { word: 'reset', value: null, pattern: null, effect: 'Resets the connection before any header.' },
  {
    word: 'cut',
    value: 'nothing, or `reset`',
    pattern: /^reset$/,
    effect: 'Ends the stream in the middle, without the events that end a reply; `=reset` resets the connection there.',
  },
  {
    word: 'error-event',
    value: null,
    pattern: null,
    effect: 'Sends an error event in the middle of the stream and nothing after it.',
  },
  {
    word: 'slow',
    value: 'nothing, or tokens per second',
    pattern: WHOLE_NUMBER,
    effect: 'Streams at 2 tokens per second, or at the given rate.',
  },
  {
    word: 'tokens',
    value: 'tokens',
    pattern: WHOLE_NUMBER,
    effect: 'Makes the text this long (within `max_tokens` and the limit of the sandbox), also before a tool call.',
  },
  {
    word: 'tool',
    value: 'nothing, or the name of a tool',
    pattern: /^[A-Za-z0-9_.:-]{1,128}$/,
    effect: 'Calls this tool, or the best fitting one, even when tool results have just come back.',
  },
  { word: 'text', value: null, pattern: null, effect: 'Answers in text although tools are offered.' },
  { word: 'no-usage', value: null, pattern: null, effect: 'Leaves every usage figure out.' },
  {
    word: 'cached',
    value: 'tokens',
    pattern: WHOLE_NUMBER,
    effect: 'Reports this many of the input tokens as read from the prompt cache.',
  },
  {
    word: 'images',
    value: 'a number',
    pattern: WHOLE_NUMBER,
    effect: 'Returns at most this many images, fewer than `n` asks for.',
  },
  { word: 'refuse', value: null, pattern: null, effect: 'Declines: stop reason `refusal` or `content_filter`.' },
  { word: 'garbage', value: null, pattern: null, effect: 'Answers 200 with a body (or stream) that is cut-off JSON.' },
  { word: 'empty', value: null, pattern: null, effect: 'Answers 200 with an empty body.' },
  {
    word: 'html',
    value: 'nothing, or a status',
    pattern: /^[2-5]\d\d$/,
    effect: 'Answers with an HTML page as a broken proxy does, status 502 or the given one.',
  },
] as const satisfies readonly WordRow[]

export type Word = (typeof WORDS)[number]['word']

/** The `sandbox:` words found in a prompt, with their values; '' for a word without a value. */
export type FoundWords = ReadonlyMap<Word, string>

export class UnknownWordError extends Error {}

const IN_TEXT = /(?<![\w/:-])sandbox:([a-z][a-z-]*)(?:=([A-Za-z0-9_.:-]*[A-Za-z0-9_-]))?/g

/** The text without `sandbox:` words, as a model should see it. */
export function withoutWords(text: string): string {
  return text.replaceAll(IN_TEXT, '')
}

/** Finds `sandbox:word` and `sandbox:word=value` in a text. Throws UnknownWordError for a misspelt word. */
export function readWords(text: string): FoundWords {
  const found = new Map<Word, string>()
  for (const match of text.matchAll(IN_TEXT)) {
    const row: WordRow | undefined = WORDS.find(candidate => candidate.word === match[1])
    const value = match[2] ?? ''
    if (row === undefined) {
      if (isMisspelt(match[1]!)) throw new UnknownWordError(`sandbox:${match[1]} is not a known word; ${knownWords()}`)
      continue
    }
    if (!fits(row, value)) {
      throw new UnknownWordError(
        `${match[0]} has an invalid value; sandbox:${row.word} takes ${row.value ?? 'no value'}`,
      )
    }
    found.set(row.word as Word, value)
  }
  return found
}

/** A word's value as a whole number; null when the word is absent or has no value. */
export function wordNumber(words: FoundWords, word: Word): number | null {
  const value = words.get(word)
  return value === undefined || value === '' ? null : Number(value)
}

/** The table of `sandbox:` words as Markdown, for the documentation and the help page. */
export function wordsTable(): string {
  const rows = WORDS.map((row: WordRow) => {
    const values = row.value === null ? '' : row.value
    return `| \`sandbox:${row.word}\` | ${values} | ${row.effect} |`
  })
  return ['| word | value after `=` | what happens |', '|---|---|---|', ...rows].join('\n')
}

function fits(row: WordRow, value: string): boolean {
  const optional = row.value === null || row.value.startsWith('nothing')
  if (value === '') return optional
  return row.pattern?.test(value) ?? false
}

/** Whether an unknown word differs from a known one by only one or two letters. */
function isMisspelt(word: string): boolean {
  return WORDS.some(row => row.word.length > 3 && editDistance(word, row.word) <= 2)
}

function editDistance(left: string, right: string): number {
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (const [row, letter] of [...left.slice(0, 40)].entries()) {
    const current = [row + 1]
    for (let column = 0; column < right.length; column += 1) {
      const swap = previous[column]! + (letter === right[column] ? 0 : 1)
      current.push(Math.min(swap, previous[column + 1]! + 1, current[column]! + 1))
    }
    previous = current
  }
  return previous[right.length]!
}

function knownWords(): string {
  return `known words: ${WORDS.map(row => row.word).join(', ')}`
}
