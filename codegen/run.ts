/** Dispatches the verbs of the catalogue's command line. */

import { join } from 'node:path'
import type { Output } from './output.ts'
import { type Project, UsageError } from './project.ts'

type Verb = (project: Project, args: readonly string[], output: Output) => Promise<number>

/** Each verb is loaded when it is called: most need a part of the program only. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  generate: async () => (await import('./verbs/generate.ts')).generate,
  check: async () => (await import('./verbs/generate.ts')).check,
  list: async () => (await import('./verbs/list.ts')).list,
  add: async () => (await import('./verbs/add.ts')).add,
  'price-diff': async () => (await import('./verbs/price-diff.ts')).priceDiff,
  diff: async () => (await import('./verbs/price-diff.ts')).priceDiff,
}

const USAGE = `usage: node codegen/main.ts <verb> [--json]
  generate
      Turn catalogue/ into src/generated/ and docs/catalogue.md.
  check [--format text|github|json]
      Validate the catalogue and compare what is generated with what is committed.
  list [--channel | --endpoint | --capability | --family | --vendor | --per | --upstream WORD]
      The entries as a table.
  add ID --like ENTRY --price VND [--per mtok|request|image] [--name NAME] [--via UPSTREAM] [--model UPSTREAM_MODEL]
         [--released DATE] [--dry-run]
      Write an entry (and its model, when it is new) beside a like one, and generate.
  price-diff BASE [--usage FILE.csv] [--threshold PERCENT]
      What the catalogue changes against a commit, a branch or a folder; fails on large changes that are not acknowledged.`

const root = join(import.meta.dirname, '..')

/** Returns the exit status: 0, or 1 when something must be mended, or 2 for a wrong call. */
export async function run(argv: readonly string[], output: Output, project: Project = { root }): Promise<number> {
  const [name = '', ...args] = argv
  const load = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined
  if (load === undefined) {
    const isAsked = ['help', '--help', '-h'].includes(name)
    if (isAsked) output.out(USAGE)
    else output.err(USAGE)
    return isAsked ? 0 : 2
  }
  try {
    const verb = await load()
    return await verb(project, args, output)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    output.err(error.message)
    return 2
  }
}
