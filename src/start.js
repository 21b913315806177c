// @ts-check
/**
 * The gateway's only program: `npm run -s gateway -- COMMAND`. What Node makes of the sources (types stripped, code compiled) is
 * cached on disk, which halves the time of the next start. Only this file is plain JavaScript: Node's type stripper takes 100 ms
 * to load, and when everything else comes from the cache, it is not needed at all.
 */

import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const words = process.argv.slice(2)
keepCompiled(process.env.DATA_DIR?.trim() || join(import.meta.dirname, '../.data'))
const { runCommandLine } = await import('./cli/run.ts')
process.exitCode = await runCommandLine(words, process.env)
// A worker whose program failed to load exits at once; its channel to the supervisor would keep it alive.
if (process.exitCode !== 0 && process.connected) process.exit()

/**
 * Caches compiled code in a folder of this user's own in `dataDir`: Node will run that code, so nobody else may put any there.
 * Nothing here can fail a start: if the folder cannot be written, everything is compiled anew. If `NODE_COMPILE_CACHE` names
 * another folder, Node already uses that one and keeps it.
 *
 * @param {string} dataDir as in `DATA_DIR`
 */
function keepCompiled(dataDir) {
  const userId = process.getuid?.() ?? 0
  const folder = join(dataDir, `compiled-${userId}`)
  try {
    // Only `serve` creates the folder, so that `help` and other short commands leave nothing behind where no gateway has run.
    if (words[0] === 'serve') mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = lstatSync(folder)
    // Code in a folder that everybody may write to could be anybody's. Group write is fine: some orchestrators set it on the
    // folders that they mount.
    if (uid === userId && (mode & 0o002) === 0) enableCompileCache(folder)
  } catch {
    // The folder is read-only or missing.
  }
}
