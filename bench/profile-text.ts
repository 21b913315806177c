/**
 * A CPU profile as text: the functions with most self time.
 * Run: npm exec node bench/profile-text.ts file.cpuprofile [rows]
 */

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'

interface Node {
  readonly id: number
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
}

interface Profile {
  readonly nodes: readonly Node[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

export function profileText(file: string, rows: number): string {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile
  const byId = new Map(nodes.map(node => [node.id, node]))
  const selfUs = new Map<string, number>()
  let busyUs = 0
  samples.forEach((id, index) => {
    const { functionName, url, lineNumber } = (byId.get(id) as Node).callFrame
    const us = timeDeltas[index] ?? 0
    if (functionName === '(idle)' || functionName === '(root)') return
    busyUs += us
    const place = url === '' ? '' : ` ${shortPlace(url)}:${lineNumber + 1}`
    const name = `${functionName || '(anonymous)'}${place}`
    selfUs.set(name, (selfUs.get(name) ?? 0) + us)
  })
  const ranked = [...selfUs].sort(([, a], [, b]) => b - a).slice(0, rows)
  return ranked.map(([name, us]) => `${((us / busyUs) * 100).toFixed(1).padStart(5)} %  ${name}\n`).join('')
}

function shortPlace(url: string): string {
  const root = pathToFileURL(`${process.cwd()}/`).href
  return url.replace(root, '').replace(/^.*\/node_modules\//, '')
}

if (process.argv[1]?.endsWith('profile-text.ts')) {
  process.stdout.write(profileText(process.argv[2] as string, Number(process.argv[3] ?? 25)))
}
