/**
 * Runs inside the measured gateway and records the maximum CPU time that the event loop's thread used between two checks. This
 * bounds the CPU time of a single turn of the loop, even on a busy machine. SIGUSR2 resets it.
 */

import { writeFileSync } from 'node:fs'

const LOOK_MS = 5
const file = process.env.HOSTILE_TURNS as string
let longest = 0
let last = process.threadCpuUsage()

function look(): void {
  const { user, system } = process.threadCpuUsage(last)
  last = process.threadCpuUsage()
  const ms = (user + system) / 1000
  if (ms <= longest) return
  longest = ms
  writeFileSync(file, String(ms))
}

setInterval(look, LOOK_MS).unref()
process.on('SIGUSR2', () => {
  longest = 0
  writeFileSync(file, '0')
})
