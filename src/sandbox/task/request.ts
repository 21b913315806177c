/** Separates what the user asked for from what the client added: reminders, environment, instructions. */

export interface UserTurn {
  /** The user's own text in the last turn, without the client's additions. */
  readonly userText: string
  /**
   * The part of the turn that decides the tool calls and the form of the reply: the text in the last pair of WRAPPERS tags,
   * otherwise the user's last text.
   */
  readonly request: string
}

const LIMITS = { tags: 200, contextCharacters: 400_000 } as const

/** Names of elements around a client's additions, such as `<system-reminder>` and `<environment_context>`. */
const ADDED =
  /^(?:[a-z]+(?:[-_][a-z]+)*[-_](?:reminder|context|details|instructions?|info|rules|skills|memory|memories|caveat|selection|notification|diagnostics|aborted|list|progress)|command-\w+|local-command-\w+|ide_\w+|available_\w+|env|INSTRUCTIONS)$/

/**
 * How Claude Code's lists of agents and skills begin, to the end of the part (2.1.330, seen 2026-11-24). It sends them as a system
 * message, which becomes user text for models that know no such messages between turns.
 */
const LISTS =
  /^(?:Available agent types for the \w+ tool|The following skills are available for use with the \w+ tool):[\s\S]*/m

/** Tags around the user's own words; only the tags are removed. */
const WRAPPERS = /<\/?(?:task|user_message|user_query|user_input|user_request|feedback|answer)(?:\s[^<>]{0,200})?>/gi

/** A heading, such as `# AGENTS.md`, that some clients put above a project's instructions. */
const HEADING = /^#+ [A-Z]{3,20}\.md\b[^\n]*$/gm

/** Reads a user's turn. `texts` are its parts, in order. */
export function readUserTurn(texts: readonly string[]): UserTurn {
  const own = texts.map(text => unquoted(ownWords(text))).filter(text => text !== '')
  const wrapped = texts.map(wrappedWords).findLast(text => text !== null)
  return { userText: own.join('\n'), request: wrapped ?? own.at(-1) ?? '' }
}

/** The text inside the last pair of `WRAPPERS` tags; null when there is none. */
function wrappedWords(text: string): string | null {
  const end = [...text.matchAll(WRAPPERS)].at(-1)
  if (end === undefined || !end[0].startsWith('</')) return null
  const start = text.slice(0, end.index).search(new RegExp(`<${end[0].slice(2, -1).trim()}(?:\\s[^<>]{0,200})?>`, 'i'))
  return start < 0 ? null : ownWords(text.slice(start, end.index))
}

function ownWords(text: string): string {
  return withoutAdded(text).replace(LISTS, '').replaceAll(WRAPPERS, '').replaceAll(HEADING, '').trim()
}

/**
 * Removes every closed element whose name matches `ADDED`. Gives up after `LIMITS.tags` elements, to bound its running time.
 */
function withoutAdded(text: string): string {
  const kept: string[] = []
  const opening = /<([A-Za-z][\w-]{0,60})(?:\s[^<>]{0,300})?>/g
  let keptTo = 0
  let tags = 0
  for (let match = opening.exec(text); match !== null && tags < LIMITS.tags; match = opening.exec(text)) {
    if (!ADDED.test(match[1]!)) continue
    tags += 1
    const closing = `</${match[1]}>`
    const end = text.indexOf(closing, opening.lastIndex)
    if (end < 0) continue
    kept.push(text.slice(keptTo, match.index))
    keptTo = end + closing.length
    opening.lastIndex = keptTo
  }
  kept.push(text.slice(keptTo))
  return kept.join('')
}

/** Removes the quotes that some command-line clients put around the whole prompt. */
function unquoted(text: string): string {
  const inner = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)?.[1]
  return inner === undefined ? text : inner.replaceAll(/\\(["\\])/g, '$1')
}

const DIRECTORY =
  /(?:<cwd>|\b(?:working|current) (?:in the )?directory(?: is)?\s*[:=(])\s*["'`]?((?:\/|[A-Za-z]:\\)[^\s<>"'`)]*)/i

/** The client's working directory; null when no text mentions it. */
export function workingDirectory(texts: readonly string[]): string | null {
  for (const text of texts) {
    const found = DIRECTORY.exec(text.slice(0, LIMITS.contextCharacters))?.[1]
    if (found !== undefined) return found.replace(/(?<=.)[/\\.]+$/, '')
  }
  return null
}
