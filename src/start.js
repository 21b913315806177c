// @ts-check
/**
 * The one program: `npm run -s gateway -- VERB`. What Node makes of the sources (types taken out, compiled) is kept on disk
 * for the next start, which takes half as long then. This file alone is plain JavaScript: Node's remover of types takes
 * 100 ms to load, and with everything else kept it is not needed at all.
 */

import { lstatSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

const words = process.argv.slice(2)
keepCompiled(process.env.DATA_DIR?.trim() || join(import.meta.dirname, '../.data'))
const { runCommandLine } = await import('./cli/run.ts')
process.exitCode = await runCommandLine(words, process.env)
// A worker whose program cannot be loaded ends at once, instead of living on by its channel to the supervisor.
if (process.exitCode !== 0 && process.connected) process.exit()

/**
 * It is code that will run, so the folder is this user's alone. Nothing here fails a start: where the folder cannot be
 * written, everything is compiled anew. Where `NODE_COMPILE_CACHE` names another one, Node uses that already and stays
 * with it.
 *
 * @param {string} dataDir as in `DATA_DIR`
 */
function keepCompiled(dataDir) {
  const userId = process.getuid?.() ?? 0
  const folder = join(dataDir, `compiled-${userId}`)
  try {
    // Help and the like leave nothing behind where no gateway ever ran.
    if (words[0] === 'serve') mkdirSync(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = lstatSync(folder)
    // What anybody can write, anybody may have written. A group may where an orchestrator mounts the folder for it.
    if (uid === userId && (mode & 0o002) === 0) enableCompileCache(folder)
  } catch {
    // Read-only, or not there.
  }
}
