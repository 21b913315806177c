// @ts-check
/**
 * The gateway's one program: `npm run -s gateway -- VERB`. Node's work on the sources (stripping types, compiling) is cached on
 * disk, which halves the time of the next start. Only this file is plain JavaScript: Node's type stripper takes 100 ms to load,
 * and with everything else in the cache it is not needed at all.
 */

import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const words = process.argv.slice(2)
keepCompiled(process.env.DATA_DIR?.trim() || join(import.meta.dirname, '../.data'))
const { runCommandLine } = await import('./cli/run.ts')
process.exitCode = await runCommandLine(words, process.env)
// A worker whose program cannot be loaded ends at once, instead of being kept alive by its channel to the supervisor.
if (process.exitCode !== 0 && process.connected) process.exit()

/**
 * Caches compiled code below `dataDir`. The code will run, so the folder is this user's alone. Nothing here fails a start: if
 * the folder cannot be written, everything is compiled anew. If `NODE_COMPILE_CACHE` names another folder, Node is using that
 * one already and stays with it.
 *
 * @param {string} dataDir as in `DATA_DIR`
 */
function keepCompiled(dataDir) {
  const userId = process.getuid?.() ?? 0
  const folder = join(dataDir, `compiled-${userId}`)
  try {
    // Only `serve` creates the folder, so that help and the like leave nothing behind where no gateway ever ran.
    if (words[0] === 'serve') mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = lstatSync(folder)
    // In a folder that everybody may write to, the code may be anybody's. A group may write where an orchestrator mounts the
    // folder for it.
    if (uid === userId && (mode & 0o002) === 0) enableCompileCache(folder)
  } catch {
    // The folder is read-only or not there.
  }
}
