/**
 * Prints a CPU profile as text: the functions with the most self time, and self time by folder below `src` and by package.
 * Run: npm exec node bench/profile-text.ts file.cpuprofile [rows]
 */

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

const WRITES = /^write(v|Latin1String|Buffer|String|Utf8String|Utf8StringV)$/

export function profileText(file: string, rows: number): string {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const frames = new Map(nodes.map(node => [node.id, node.callFrame]))
  const byFunction = new Map<string, number>()
  const byPart = new Map<string, number>()
  let busyUs = 0
  samples.forEach((id, index) => {
    const frame = frames.get(id) as CallFrame
    const us = timeDeltas[index] ?? 0
    // Skip idle time, and the inspector's own work at the start and the end.
    if (['(idle)', '(root)'].includes(frame.functionName) || frame.url === 'node:inspector') return
    busyUs += us
    add(byFunction, nameOf(frame), us)
    add(byPart, partOf(frame), us)
  })
  const list = (shares: ReadonlyMap<string, number>, max: number) =>
    [...shares]
      .sort(([, a], [, b]) => b - a)
      .slice(0, max)
      .map(([name, us]) => `${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name}\n`)
      .join('')
  return `${list(byFunction, rows)}\nBy part:\n${list(byPart, rows)}`
}

function add(shares: Map<string, number>, name: string, us: number): void {
  shares.set(name, (shares.get(name) ?? 0) + us)
}

function nameOf({ functionName, url, lineNumber }: CallFrame): string {
  const place = url === '' ? '' : ` ${shortPlace(url)}:${lineNumber + 1}`
  return `${functionName || '(anonymous)'}${place}`
}

function partOf({ functionName, url }: CallFrame): string {
  const fromPackage = /\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1]
  if (fromPackage !== undefined) return `package ${fromPackage}`
  const room = /\/src\/([^/]+)\//.exec(url)?.[1]
  if (room !== undefined) return `src/${room}`
  if (url.startsWith('node:') || url.startsWith('wasm:')) return 'Node: HTTP, sockets, streams, timers'
  if (WRITES.test(functionName)) return 'writes to sockets and the spool, kernel included'
  if (functionName === '(garbage collector)') return 'garbage collection'
  return 'V8 and Node in C++'
}

function shortPlace(url: string): string {
  const root = pathToFileURL(`${process.cwd()}/`).href
  return url.replace(root, '').replace(/^.*\/node_modules\//, '')
}

if (process.argv[1]?.endsWith('profile-text.ts')) {
  process.stdout.write(profileText(process.argv[2] as string, Number(process.argv[3] ?? 25)))
}
