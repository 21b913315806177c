/**
 * A gateway process that its parent kills. It places 60 holds and settles 40 of them, but the parent keeps the settlements from
 * reaching the database.
 */

import { createLedger } from '../../src/ledger/ledger.ts'
import { uuidv7 } from '../../src/lib/ids.ts'
import { holdRequest, settlement } from './calls.ts'

const [url, name, spoolDir, keyHashHex] = process.argv.slice(2) as [string, string, string, string]
const ledger = await createLedger({ url, instanceName: name, spoolDir, report: () => {} })
const calls = Array.from({ length: 60 }, () => uuidv7())
const { signal } = new AbortController()
const keyHash = Buffer.from(keyHashHex, 'hex')
const held = await Promise.all(calls.map(callId => ledger.admit(holdRequest({ keyHash }, { callId }), { signal })))
const answers = await Promise.all(
  calls.slice(0, 40).map((callId, index) => {
    const answer = held[index]!
    if (answer.outcome !== 'admitted') throw new Error(`not admitted: ${answer.outcome}`)
    return ledger.settle(settlement(answer, { callId }))
  }),
)
if (answers.some(answer => answer.outcome !== 'spooled')) throw new Error('a settlement reached the database too early')
process.send?.(calls)
