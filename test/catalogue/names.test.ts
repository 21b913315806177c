/** No source file names a model, vendor or upstream: they are data in the catalogue. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { TABLES } from '../../src/generated/tables.ts'

const source = join(import.meta.dirname, '../../src')

/** Words that look like model names but are parts of headers, a package name, an audio codec and a voice. */
const OTHER_WORDS = /anthropic-(beta|version)|gpt-tokenizer|'opus', 'aac'|'echo', 'fable'/g

/** Files that quote the settings of third-party tools: their packages, variables and default models. */
const TOOLS = /^dashboard\/(public\/tools\/(agents|apps|libraries)|texts\/quick-start)\.ts$/
/** Files that name Google as a sign-in provider rather than as a vendor of models. */
const SIGN_IN_FILES = /^(accounts\/identity-providers\/|app\/sign-in-config\.ts$)/
const SIGN_IN_WORDS = /with Google and GitHub|OAuth client of Google|\/signin\/google\/|\/\/accounts\.google\.com/g

/** Removes comments, which are allowed to name clients and providers. */
function codeOf(text: string): string {
  return text
    .replace(OTHER_WORDS, '')
    .replace(SIGN_IN_WORDS, '')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|[^:'"`])\/\/.*$/gm, '$1')
}

test('no model, family, vendor or upstream is named in src/ outside the generated tables', () => {
  const { entries, upstreams, settings } = TABLES
  const bare = entries.map(entry => entry.id.slice(entry.id.indexOf('/') + 1))
  const names = [
    ...bare,
    ...entries.flatMap(entry => [entry.family, entry.vendor]),
    ...upstreams.map(upstream => upstream.id),
  ]
  const words = [...new Set([...names, ...Object.keys(settings.aliases), ...Object.keys(settings.vendors)])].map(word =>
    word.replace(/[.\\]/g, '\\$&'),
  )
  const pattern = new RegExp(`(?<![\\w-])(${words.join('|')})(?![\\w])`, 'i')
  const found: string[] = []
  for (const name of readdirSync(source, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.ts') || name.startsWith('generated/') || TOOLS.test(name)) continue
    for (const line of codeOf(readFileSync(join(source, name), 'utf8')).split('\n')) {
      const match = pattern.exec(line)
      const isSignIn = SIGN_IN_FILES.test(name) && match?.[1]?.toLowerCase() === 'google'
      if (match !== null && !isSignIn) found.push(`${name}: ${match[1]} in ${line.trim()}`)
    }
  }
  expect(found).toEqual([])
})
