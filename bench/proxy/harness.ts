/** Starts the load generator and the upstream: the C program if there is a compiler, otherwise their versions in Node. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startBenchProcess } from './bench-process.ts'
import { type LoadGenerator, NodeLoadGenerator } from './load.ts'
import { buildNative, Native, NativeLoadGenerator } from './native.ts'
import { makeReplies, type Pace, replyFile } from './replies.ts'

/** The load generator and the upstream, between which the proxies are measured. */
export interface Harness {
  readonly name: string
  readonly upstreamUrl: string
  /** Process ids of the load generator and the upstream. */
  readonly pids: readonly number[]
  /** Sets how the upstream replies from now on. */
  setReplies(pace: Pace): Promise<void>
  /** URL path of the last call that the upstream received. */
  lastPath(): Promise<string>
  loadGenerator(url: string): LoadGenerator
  stop(): Promise<void>
}

export interface HarnessOptions {
  /** Folder for the compiled program and the files from which it reads calls and replies. */
  readonly folder: string
  /** Cores for the load generator and the upstream, in taskset's syntax; null means the cores of this process. */
  readonly cores: string | null
  /** Whether to use Node even if there is a compiler. */
  readonly node: boolean
}

export async function startHarness({ folder, cores, node }: HarnessOptions): Promise<Harness> {
  const program = node ? null : buildNative(folder)
  return program === null ? nodeHarness(folder, cores) : nativeHarness(program, { folder, cores })
}

async function nativeHarness(
  program: string,
  { folder, cores }: { folder: string; cores: string | null },
): Promise<Harness> {
  const [load, upstream] = await Promise.all([
    Native.start({ program, mode: 'load', cores }),
    Native.start({ program, mode: 'upstream', cores }),
  ])
  return {
    name: 'compiled',
    upstreamUrl: `http://127.0.0.1:${upstream.firstLine.split(' ')[1]}`,
    pids: [load.native.pid, upstream.native.pid],
    setReplies: async pace => void (await upstream.native.request(`replies ${writeReplies(folder, pace)}`)),
    lastPath: async () => (await upstream.native.request('last-path')).split(' ')[1] ?? '',
    loadGenerator: url => new NativeLoadGenerator(load.native, { url, folder }),
    stop: async () => void (await Promise.all([load.native.stop(), upstream.native.stop()])),
  }
}

async function nodeHarness(folder: string, cores: string | null): Promise<Harness> {
  const upstream = await startBenchProcess('upstream', { cores })
  return {
    name: 'Node',
    upstreamUrl: upstream.url,
    pids: [process.pid, upstream.pid],
    setReplies: async pace => void (await upstream.send(writeReplies(folder, pace))),
    lastPath: () => upstream.send(null),
    loadGenerator: url => new NodeLoadGenerator(url),
    stop: () => upstream.stop(),
  }
}

function writeReplies(folder: string, pace: Pace): string {
  const file = join(folder, 'replies')
  writeFileSync(file, replyFile(makeReplies(pace)))
  return file
}
