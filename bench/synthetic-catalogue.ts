/** Builds a large catalogue out of copies of the project's own families. */

import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

type Loose = Record<string, unknown>

/** Writes each family and `copies` copies of it to a new project folder. Returns the number of entries. */
export function writeCopies(root: string, project: string, copies: number): number {
  const folder = join(project, 'catalogue/families')
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'catalogue/upstreams.yaml'), join(project, 'catalogue/upstreams.yaml'))
  const counts = { entries: 0, aws: 0, per_call: 0 }
  for (const file of readdirSync(join(root, 'catalogue/families')).filter(name => name.endsWith('.yaml'))) {
    const text = readFileSync(join(root, 'catalogue/families', file), 'utf8')
    for (let copy = 0; copy <= copies; copy++) {
      const suffix = copy === 0 ? '' : `-copy${copy}`
      const family = parse(text) as Loose & {
        family: string
        models: (Loose & { entries: (Loose & { id: string; upstream: { model: string } })[] })[]
      }
      family.family += suffix
      for (const model of family.models) {
        // A retirement names a successor and may need an acknowledgement, neither of which is copied.
        for (const holder of [model, ...model.entries]) delete holder.deprecated
        for (const entry of model.entries) {
          entry.id += suffix
          for (const target of [entry.upstream].flat()) target.model += suffix
          counts.entries++
          if (entry.id.startsWith('svc/')) counts.aws++
          if (entry.id.startsWith('req/')) counts.per_call++
        }
      }
      writeFileSync(join(folder, `${family.family}.yaml`), stringify(family))
    }
  }
  const { acknowledged: _, ...main } = parse(readFileSync(join(root, 'catalogue/catalogue.yaml'), 'utf8')) as Loose
  writeFileSync(join(project, 'catalogue/catalogue.yaml'), stringify({ ...main, counts }))
  return counts.entries
}
