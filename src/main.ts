/** The one program: `npm run -s gateway -- VERB`. */

import { runCommandLine } from './cli/run.ts'

process.exitCode = await runCommandLine(process.argv.slice(2), process.env)
