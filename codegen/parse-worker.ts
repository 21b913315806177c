/** Worker thread of parse-ahead.ts: receives YAML texts and posts back the parsed values. */

import { parentPort, workerData } from 'node:worker_threads'
import { parseYaml } from './parse.ts'
import type { SourceText } from './source.ts'

const texts = workerData as readonly SourceText[]
parentPort?.postMessage(texts.map(({ path, text }) => parseYaml(path, text)))
