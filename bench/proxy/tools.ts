/** Starts the load generator and the upstream: the C program if there is a compiler, otherwise their versions in Node. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBenchProcess } from './bench-process.ts'
import { type Load, NodeLoad } from './load.ts'
import { buildNative, Native, NativeLoad } from './native.ts'
import { makeReplies, type Pace, replyFile } from './replies.ts'

export interface Tools {
  readonly name: string
  /** URL of the upstream. */
  readonly url: string
  /** Process ids of the load generator and the upstream. */
  readonly pids: readonly number[]
  /** Sets how the upstream replies from now on. */
  answer(pace: Pace): Promise<void>
  /** URL path of the last call that the upstream received. */
  asked(): Promise<string>
  loadTo(url: string): Load
  stop(): Promise<void>
}

export interface ToolsOptions {
  /** Folder for the compiled program and the files from which it reads calls and replies. */
  readonly folder: string
  /** Cores for the load generator and the upstream, in taskset's syntax; null means the cores of this process. */
  readonly cores: string | null
  /** Whether to use Node even if there is a compiler. */
  readonly node: boolean
}

export async function startTools({ folder, cores, node }: ToolsOptions): Promise<Tools> {
  const program = node ? null : buildNative(folder)
  return program === null ? nodeTools(folder, cores) : nativeTools(program, { folder, cores })
}

async function nativeTools(
  program: string,
  { folder, cores }: { folder: string; cores: string | null },
): Promise<Tools> {
  const [load, upstream] = await Promise.all([
    Native.start({ program, mode: 'load', cores }),
    Native.start({ program, mode: 'upstream', cores }),
  ])
  return {
    name: 'compiled',
    url: `http://127.0.0.1:${upstream.firstLine.split(' ')[1]}`,
    pids: [load.native.pid, upstream.native.pid],
    answer: async pace => void (await upstream.native.request(`replies ${writeReplies(folder, pace)}`)),
    asked: async () => (await upstream.native.request('last-path')).split(' ')[1] ?? '',
    loadTo: url => new NativeLoad(load.native, { url, folder }),
    stop: async () => void (await Promise.all([load.native.stop(), upstream.native.stop()])),
  }
}

async function nodeTools(folder: string, cores: string | null): Promise<Tools> {
  const upstream = await startBenchProcess('upstream', { cores })
  return {
    name: 'Node',
    url: upstream.url,
    pids: [process.pid, upstream.pid],
    answer: async pace => void (await upstream.send(writeReplies(folder, pace))),
    asked: () => upstream.send(null),
    loadTo: url => new NodeLoad(url),
    stop: () => upstream.stop(),
  }
}

function writeReplies(folder: string, pace: Pace): string {
  const file = join(folder, 'replies')
  writeFileSync(file, replyFile(makeReplies(pace)))
  return file
}
