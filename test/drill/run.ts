/** `make drill STEP=20`: runs the recovery drill and prints a table; exits with status 1 if data was lost or is wrong. */

import { runDrill } from './drill.ts'
import { findingsOf, tableOf } from './report.ts'

const stepMs = Number(process.env.STEP || 20) * 1_000
if (!(stepMs > 0)) throw new Error('STEP is in seconds')
const say = (text: string) => process.stdout.write(`${text}\n`)
const report = await runDrill({ stepMs, callers: 12, onProgress: say })
const findings = findingsOf(report)
say(`\n${tableOf(report)}\n`)
say(findings.length === 0 ? 'Nothing was lost.' : ['LOST OR WRONG:', ...findings.slice(0, 40)].join('\n  '))
process.exitCode = findings.length === 0 ? 0 : 1
