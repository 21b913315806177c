/** The catalogue's command line: `node codegen/main.ts <command>`. Exit status 1 means that there is an error to fix. */

import { enableCompileCache } from 'node:module'
import { isMainThread } from 'node:worker_threads'

// In a thread of the gateway, the gateway's own compile cache applies, if it has one.
if (isMainThread) enableCompileCache()
const { run } = await import('./run.ts')
process.exitCode = await run(process.argv.slice(2), {
  out: text => console.log(text),
  err: text => console.error(text),
})
