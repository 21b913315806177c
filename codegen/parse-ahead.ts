/**
 * Parses a catalogue's files before they are compiled. Files in plain YAML, a simple subset, have a fast reader of their own.
 * If many others remain, two threads share them.
 */

import { Worker } from 'node:worker_threads'
import type { Parsed } from './parse.ts'
import { readPlainYaml } from './plain-yaml.ts'
import type { SourceText } from './source.ts'

/** Total length of the remaining files, in characters, from which starting a second thread pays off. */
const WORTH_A_THREAD = 400_000
const THREAD_TIMEOUT_MS = 60_000

/**
 * Returns the same texts in the same order, parsed where that was worth doing ahead; the compiler parses the others itself. The
 * result does not depend on which thread parsed a file.
 */
export async function parseAhead(given: readonly SourceText[]): Promise<readonly SourceText[]> {
  const texts = given.map(readAhead)
  const open = texts.filter(({ parsed }) => parsed === undefined)
  const total = open.reduce((sum, { text }) => sum + text.length, 0)
  if (total < WORTH_A_THREAD) return texts
  let size = 0
  const share = open.filter(({ text }) => {
    size += text.length
    return size <= total / 2
  })
  const worker = new Worker(new URL('./parse-worker.ts', import.meta.url), { workerData: share })
  const others = open.slice(share.length)
  // Start listening first, so that the worker parses its share while this thread parses the rest.
  const answered = answerOf(worker)
  const { parseYaml } = await import('./parse.ts')
  const own = others.map(({ path, text }) => ({ path, text, parsed: parseYaml(path, text) }))
  const parsed = await answered
  const all = [...share.map(({ path, text }, index) => ({ path, text, parsed: parsed[index] as Parsed })), ...own]
  const byPath = new Map(all.map(source => [source.path, source]))
  return texts.map(source => byPath.get(source.path) ?? source)
}

function readAhead(source: SourceText): SourceText {
  const value = source.parsed === undefined ? readPlainYaml(source.text) : undefined
  return value === undefined ? source : { ...source, parsed: { value, findings: [] } }
}

function answerOf(worker: Worker): Promise<readonly Parsed[]> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      void worker.terminate()
      reject(new Error(`parsing took longer than ${THREAD_TIMEOUT_MS / 1000} s`))
    }, THREAD_TIMEOUT_MS)
    const settle = (settled: () => void) => {
      clearTimeout(timer)
      settled()
    }
    worker.once('message', (answer: readonly Parsed[]) => settle(() => resolve(answer)))
    worker.once('error', error => settle(() => reject(error)))
  })
}
