/**
 * Measures how long `count_tokens` takes without HTTP, for several kinds of text and for bodies of up to 20 MB. Then compares the
 * tokenizer alone with the gpt-tokenizer package, whose vocabulary it uses. Prints figures; asserts nothing.
 * Run: npm exec node bench/count-tokens.ts [repetitions]
 */

import { readFileSync } from 'node:fs'
import { countTokens as countByPackage } from 'gpt-tokenizer/encoding/o200k_base'
import { catalogue } from '../src/catalogue/current.ts'
import { countTokens, warmTokens } from '../src/lib/tokens.ts'
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

/** Also measures CPU time, which is more meaningful on a busy machine. */
async function measure(body: Buffer): Promise<{ medianMs: number; processorMs: number }> {
  const times: number[] = []
  const before = process.cpuUsage()
  for (let turn = 0; turn < repetitions; turn++) {
    const start = performance.now()
    await countInput(catalogue, body, { limits: { bodyValuesMax: 100_000 }, format: 'messages' })
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

const COMPARED_CHARACTERS = 100_000
const RUN_CHARACTERS = 10_000

/** Texts to count, by kind. `one run` repeats a single letter, a new one each turn, because the package caches its results. */
const SAMPLES: Readonly<Record<string, (turn: number) => string>> = {
  ...Object.fromEntries(
    ['code', 'json', 'vietnamese'].map(name => {
      const text = TEXTS[name] ?? ''
      const sample = text.repeat(Math.ceil(COMPARED_CHARACTERS / text.length)).slice(0, COMPARED_CHARACTERS)
      return [name, () => sample]
    }),
  ),
  'one run': turn => String.fromCharCode(97 + (turn % 26)).repeat(RUN_CHARACTERS),
}

/** CPU milliseconds per count. */
function processorMs(count: (text: string) => number, sample: (turn: number) => string): number {
  count(sample(repetitions))
  const before = process.cpuUsage()
  for (let turn = 0; turn < repetitions; turn++) count(sample(turn))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / repetitions
}

console.log(
  `\nTokenizer alone, processor ms per count of ${COMPARED_CHARACTERS / 1000} kB (the run: ${RUN_CHARACTERS / 1000} kB):`,
)
for (const [name, sample] of Object.entries(SAMPLES)) {
  const [own, theirs] = [processorMs(countTokens, sample), processorMs(countByPackage, sample)]
  const counts = `${countTokens(sample(0))} and ${countByPackage(sample(0))} tokens`
  const ratio = (theirs / own).toFixed(1)
  console.log(`${name.padEnd(12)} ours ${own.toFixed(2)}  package ${theirs.toFixed(2)}  ${ratio} times  ${counts}`)
}
