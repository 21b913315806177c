/** `make hosts [RATE=8] [ONLY=standby]`: prints the table; exits with status 1 if anything was lost or late, with 2 if it cannot run here. */

import { runHosts } from './hosts.ts'
import { whyNot } from './network.ts'
import { findingsOf, tableOf } from './report.ts'

const say = (text: string) => process.stdout.write(`${text}\n`)
const obstacle = whyNot()
if (obstacle !== null) {
  say(`Not run: ${obstacle}.`)
  process.exit(2)
}
const ratePerSecond = Number(process.env.RATE || 8)
if (!(ratePerSecond > 0)) throw new Error('RATE is in calls per second')
// Exit handlers end the processes and remove the namespaces.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130))
const report = await runHosts({ ratePerSecond, only: new RegExp(process.env.ONLY || '.'), onProgress: say })
const findings = findingsOf(report)
say(`\n${tableOf(report)}\n`)
say(findings.length === 0 ? 'Nothing was lost.' : ['LOST, WRONG OR LATE:', ...findings.slice(0, 400)].join('\n  '))
process.exitCode = findings.length === 0 ? 0 : 1
