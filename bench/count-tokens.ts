/**
 * Time of `count_tokens` without the HTTP side, by size and kind of text; the largest is a whole body of 20 MB.
 * Prints figures; asserts nothing. Run: npm exec node bench/count-tokens.ts [repetitions]
 */

import { readFileSync } from 'node:fs'
import { catalogue } from '../src/catalogue/current.ts'
import { warmTokens } from '../src/lib/tokens.ts'
import { countInput } from '../src/pipeline/count-tokens.ts'

const repetitions = Number(process.argv[2] ?? 40)
const here = (name: string) => readFileSync(new URL(name, import.meta.url), 'utf8')
const VIETNAMESE =
  'Cổng dịch vụ giữ tiền trước khi cuộc gọi được chuyển đến nhà cung cấp, và trừ tiền khi câu trả lời đã kết thúc. '

const TEXTS: Readonly<Record<string, string>> = {
  code: here('../src/pipeline/dispatch.ts'),
  json: here('../package-lock.json'),
  vietnamese: VIETNAMESE,
  'one letter': 'a',
}

function bodyOf(text: string, bytes: number): Buffer {
  const content = text.repeat(Math.ceil(bytes / text.length)).slice(0, bytes)
  return Buffer.from(JSON.stringify({ model: catalogue.settings.fallback, messages: [{ role: 'user', content }] }))
}

/** Processor time stands beside the clock's, because it says more on a machine that has other work. */
async function measure(body: Buffer): Promise<{ medianMs: number; processorMs: number }> {
  const times: number[] = []
  const before = process.cpuUsage()
  for (let turn = 0; turn < repetitions; turn++) {
    const start = performance.now()
    await countInput(catalogue, body, { bodyValuesMax: 100_000 })
    times.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(before)
  times.sort((left, right) => left - right)
  return { medianMs: times[times.length >> 1] as number, processorMs: (user + system) / 1000 / repetitions }
}

warmTokens()
for (const [name, text] of Object.entries(TEXTS)) {
  for (const bytes of [1_000, 100_000, 1_000_000, 19_000_000]) {
    const body = bodyOf(text, bytes)
    if (body.length > 20 * 1024 * 1024) continue
    const { medianMs, processorMs } = await measure(body)
    const size = `${(body.length / 1000).toFixed(0)} kB`.padStart(9)
    console.log(`${name.padEnd(12)} ${size}  median ${medianMs.toFixed(2)} ms  processor ${processorMs.toFixed(2)} ms`)
  }
}
