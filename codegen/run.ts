/** Dispatches the verbs of the catalogue's command line. */

import { join } from 'node:path'
import { UsageError } from './findings.ts'
import type { Output } from './output.ts'
import type { Project } from './project.ts'

type Verb = (project: Project, args: readonly string[], output: Output) => Promise<number>

/** Each verb is loaded when it is called: most need a part of the program only. */
const VERBS: Readonly<Record<string, () => Promise<Verb>>> = {
  generate: async () => (await import('./verbs/generate.ts')).generate,
  check: async () => (await import('./verbs/generate.ts')).check,
  digest: async () => (await import('./verbs/digest.ts')).digest,
  list: async () => (await import('./verbs/list.ts')).list,
  add: async () => (await import('./verbs/add.ts')).add,
  'migrate-words': async () => (await import('./verbs/migrate-words.ts')).migrateWords,
  'price-diff': async () => (await import('./verbs/price-diff.ts')).priceDiff,
  diff: async () => (await import('./verbs/price-diff.ts')).priceDiff,
  'upstream-check': async () => (await import('./verbs/upstream-check.ts')).upstreamCheck,
  margin: async () => (await import('./verbs/margin.ts')).margin,
}

interface Help {
  readonly usage: string
  readonly purpose: string
  readonly options?: Readonly<Record<string, string>>
  readonly exits: string
}

const EXITS = '0, or 1 when something must be mended'

const HELP: Readonly<Record<string, Help>> = {
  generate: {
    usage: 'generate',
    purpose:
      'Turn catalogue/ into src/generated/, and write docs/catalogue.md, docs/configuration.md and a table of docs/conversion.md.',
    exits: EXITS,
  },
  check: {
    usage: 'check [--format text|github|json]',
    purpose: 'Validate the catalogue and compare what is generated with what is committed.',
    options: { '--format': 'how findings are printed: text, github (annotations on a pull request) or json' },
    exits: `${EXITS}; warnings alone are 0`,
  },
  digest: {
    usage: 'digest',
    purpose: 'Whether the generated tables are made from the YAML as it is: the digests of both.',
    exits: '0, or 1 when they differ',
  },
  list: {
    usage: 'list [--channel | --endpoint | --capability | --family | --vendor | --per | --upstream WORD]',
    purpose: 'The entries as a table.',
    options: { '--… WORD': 'only entries of which this holds; several filters join' },
    exits: EXITS,
  },
  add: {
    usage: `add ID --like ENTRY --price VND [--per mtok|request|image] [--name NAME] [--via UPSTREAM] [--model UPSTREAM_MODEL]
         [--released DATE] [--dry-run]`,
    purpose: 'Write an entry (and its model, when it is new) beside a like one, and generate.',
    options: {
      '--like ENTRY': 'whose facts are copied, beside which it is written',
      '--price VND': 'whole dong, digits only; prices are never inherited',
      '--per UNIT': 'what the price is for; by default what the prefix of the id asks for',
      '--name NAME': 'of a new model, for people',
      '--via UPSTREAM': 'where calls go; by default where those of the like entry go',
      '--model NAME': 'what that upstream calls the model; of a new model it is a guess otherwise, and is said',
      '--released DATE': 'of a new model, as YYYY-MM-DD',
      '--dry-run': 'check and say, but write nothing',
    },
    exits: `${EXITS}; then nothing was written`,
  },
  'migrate-words': {
    usage: 'migrate-words [--check]',
    purpose: 'Rewrite words of earlier versions in catalogue/ in those of today; comments, order and layout stay.',
    options: { '--check': 'say what would be rewritten, but write nothing' },
    exits: `${EXITS}: words that somebody has to decide about, or, with --check, any`,
  },
  margin: {
    usage: 'margin [--usage FILE.csv]',
    purpose: 'What each entry costs and what remains of its price, the largest loss first.',
    options: { '--usage FILE.csv': 'a usage export: what its calls earn at the prices and costs of today' },
    exits: EXITS,
  },
  'price-diff': {
    usage: 'price-diff BASE [--usage FILE.csv] [--threshold PERCENT]',
    purpose:
      'What the catalogue changes against a commit, a branch or a folder; fails on large changes that are not acknowledged.',
    options: {
      '--usage FILE.csv': 'a usage export: what its calls would have cost',
      '--threshold PERCENT': 'largest change of a price that needs no acknowledgement, 50 by default',
    },
    exits: '0, or 1 when a large change is not acknowledged',
  },
  'upstream-check': {
    usage: 'upstream-check [--upstream ID] [--timeout SECONDS]',
    purpose:
      'Ask providers, with the credentials of the environment, whether they have the models that calls go to, and until when.',
    options: {
      '--upstream ID': 'only this one; by default all, at the same time',
      '--timeout SECONDS': 'for the whole list of one provider, 30 by default',
    },
    exits:
      '0, or 1 when a model is missing or ends otherwise than the catalogue says, a provider fails, or none was asked',
  },
}

const USAGE = [
  'usage: node codegen/main.ts <verb> [--json | --help]',
  ...Object.values(HELP).map(({ usage, purpose }) => `  ${usage}\n      ${purpose}`),
].join('\n')

/** One verb with its options. */
function helpOf({ usage, purpose, options = {}, exits }: Help): string {
  const rows = Object.entries({ ...options, '--json': 'machine-readable output', '--help': 'this text' })
  const width = Math.max(...rows.map(([option]) => option.length))
  return [
    `usage: ${usage} [--json]`,
    purpose,
    '',
    ...rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`),
    '',
    `Exit status: ${exits}; 2 for a wrong call.`,
  ].join('\n')
}

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
  if (args.includes('--help') || args.includes('-h')) {
    output.out(helpOf(HELP[name === 'diff' ? 'price-diff' : name] as Help))
    return 0
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
