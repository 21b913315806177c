/**
 * postgres.js 3.4.9 with guards that it lacks. When a connection ends under a transaction, its roll-back is written to
 * a socket that is gone, in a callback where nobody can catch the error: the process ends (github.com/porsager/postgres
 * issues 1066, 1154, 1208). And what such a connection still had to send or to answer stays with it after it connects
 * anew: a query that never ends, and a place in the pool that is lost. Each guard must find its text, so that another
 * version of the driver is looked at before it runs.
 */

import { registerHooks } from 'node:module'

interface Guard {
  readonly before: string
  readonly after: string
}

const GUARDED = '/postgres/src/connection.js'

const GUARDS: readonly Guard[] = [
  {
    // What is written after the end is refused, and its query is told.
    before: `  function nextWrite(fn) {
`,
    after: `  function nextWrite(fn) {
    if (socket === null) {
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options))
      query = null
      return true
    }
`,
  },
  {
    // However a connection ends, its queries are told, and nothing of them is left for the next one.
    before: `    !hadError && (query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
`,
    after: `    chunk = nextWriteTimer = null
    ;(query || sent.length) && error(Errors.connection('CONNECTION_CLOSED', options, socket))
    query = null
`,
  },
]

const hooks = registerHooks({
  load(url, context, next) {
    const loaded = next(url, context)
    if (!url.endsWith(GUARDED)) return loaded
    return { ...loaded, source: guard(String(loaded.source)) }
  },
})

function guard(source: string): string {
  let text = source
  for (const { before, after } of GUARDS) {
    if (text.split(before).length !== 2) {
      throw new Error('this is not the version of postgres.js that src/lib/postgres-driver.ts knows')
    }
    text = text.replace(before, () => after)
  }
  return text
}

/** Loaded here and nowhere else: whoever imports the package first decides which text runs. */
export const { default: connectPostgres } = await import('postgres')
hooks.deregister()
