/** Damages spool files as a failing disk, a careless copy or a power cut would. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Random } from '../support/random.ts'

type Damage = (content: Buffer, random: Random) => Buffer

/** Turns a function that swaps, doubles or drops whole lines into a function that damages a file. */
function ofLines(change: (lines: string[], index: number, random: Random) => void): Damage {
  return (content, random) => {
    const lines = content.toString('latin1').split('\n').filter(Boolean)
    if (lines.length > 0) change(lines, random(lines.length), random)
    return Buffer.from(`${lines.join('\n')}\n`, 'latin1')
  }
}

const garbage = (length: number, random: Random): Buffer => Buffer.from(Array.from({ length }, () => random(256)))
const inserted = (content: Buffer, offset: number, what: Buffer): Buffer =>
  Buffer.concat([content.subarray(0, offset), what, content.subarray(offset)])

/** Functions that damage a file's content, each in its own way. `others` are intact lines of other spools, to be inserted. */
function damages(others: readonly string[]): readonly Damage[] {
  return [
    function flipsBits(content, random) {
      const changed = Buffer.from(content)
      for (let flips = 1 + random(8); flips > 0 && changed.length > 0; flips--) {
        const place = random(changed.length)
        changed[place] = changed[place]! ^ (1 << random(8))
      }
      return changed
    },
    function changesDigits(content, random) {
      const changed = Buffer.from(content)
      const digits = [...changed.keys()].filter(place => changed[place]! >= 48 && changed[place]! <= 57)
      const place = digits[random(Math.max(1, digits.length))]
      if (place !== undefined) changed[place] = 48 + random(10)
      return changed
    },
    (content, random) => content.subarray(0, random(content.length + 1)),
    (content, random) => content.subarray(random(content.length + 1)),
    (content, random) => {
      const from = random(content.length + 1)
      return Buffer.concat([content.subarray(0, from), content.subarray(from + random(200))])
    },
    (content, random) => inserted(content, random(content.length + 1), garbage(1 + random(300), random)),
    (content, random) => inserted(content, random(content.length + 1), Buffer.alloc(random(20_000), 0)),
    (content, random) => inserted(content, random(content.length + 1), Buffer.alloc(400_000, 'x')),
    (_content, random) => garbage(random(2_000), random),
    () => Buffer.alloc(0),
    ofLines((lines, index, random) => {
      const other = random(lines.length)
      ;[lines[index], lines[other]] = [lines[other]!, lines[index]!]
    }),
    ofLines((lines, index) => lines.splice(index, 0, lines[index]!)),
    ofLines((lines, index) => lines.splice(index, 1)),
    ofLines((lines, index, random) => lines.splice(index, 0, others[random(others.length)]!)),
    ofLines((lines, index) => {
      lines[index] = lines[index]!.replace(/"accountId":\d+/, '"accountId":null')
    }),
    ofLines((lines, index) => {
      lines[index] = lines[index]!.replace(/"accountId":\d+,/, '')
    }),
    ofLines((lines, index) => {
      lines[index] = lines[index]!.replace(/,"crc":"[^"]*"/, '')
    }),
    ofLines((lines, index, random) => {
      lines.splice(index, 0, ['{}', '[]', 'null', '1', '"x"', '{"done":1}', '{"done":null}'][random(7)]!)
    }),
  ]
}

/** Damages random files of a folder, one to three times. */
export function damageSpool(folder: string, { random, others }: { random: Random; others: readonly string[] }): void {
  const all = damages(others)
  const files = readdirSync(folder).filter(name => name.endsWith('.jsonl'))
  for (let times = 1 + random(3); times > 0; times--) {
    const path = join(folder, files[random(files.length)]!)
    writeFileSync(path, all[random(all.length)]!(readFileSync(path), random))
  }
}
