/** Dispatches the commands of the catalogue's command line. */

import { join } from 'node:path'
import { UsageError } from './findings.ts'
import type { Output } from './output.ts'
import type { Project } from './project.ts'

type Command = (project: Project, args: readonly string[], output: Output) => Promise<number>

/** Commands are loaded on demand, because most need only part of the program. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  generate: async () => (await import('./commands/generate.ts')).generate,
  check: async () => (await import('./commands/generate.ts')).check,
  digest: async () => (await import('./commands/digest.ts')).digest,
  list: async () => (await import('./commands/list.ts')).list,
  add: async () => (await import('./commands/add.ts')).add,
  'migrate-words': async () => (await import('./commands/migrate-words.ts')).migrateWords,
  'price-diff': async () => (await import('./commands/price-diff.ts')).priceDiff,
  diff: async () => (await import('./commands/price-diff.ts')).priceDiff,
  'upstream-check': async () => (await import('./commands/upstream-check.ts')).upstreamCheck,
  margin: async () => (await import('./commands/margin.ts')).margin,
}

interface Help {
  readonly usage: string
  readonly purpose: string
  readonly options?: Readonly<Record<string, string>>
  readonly exits: string
}

const EXITS = '0, or 1 when something needs fixing'

const HELP: Readonly<Record<string, Help>> = {
  generate: {
    usage: 'generate',
    purpose:
      'Turn catalogue/ into src/generated/, and write docs/catalogue.md, docs/configuration.md and a table in docs/conversion.md.',
    exits: EXITS,
  },
  check: {
    usage: 'check [--format text|github|json]',
    purpose: 'Validate the catalogue and compare the committed generated files with it.',
    options: { '--format': 'how findings are printed: text, github (annotations on a pull request) or json' },
    exits: `${EXITS}; warnings alone give 0`,
  },
  digest: {
    usage: 'digest',
    purpose: 'Compare the digests of the YAML and of the generated tables.',
    exits: '0, or 1 when they differ',
  },
  list: {
    usage: 'list [--channel | --endpoint | --capability | --family | --vendor | --per | --upstream WORD]',
    purpose: 'List the entries as a table.',
    options: { '--… WORD': 'only entries that match; several filters are combined' },
    exits: EXITS,
  },
  add: {
    usage: `add ID --like ENTRY --price VND [--per mtok|request|image] [--name NAME] [--via UPSTREAM] [--model UPSTREAM_MODEL]
         [--released DATE] [--dry-run]`,
    purpose: 'Add an entry (and its model, if new) next to a similar one, and generate.',
    options: {
      '--like ENTRY': 'entry to copy facts from; the new one is written next to it',
      '--price VND': 'whole dong, digits only; prices are never inherited',
      '--per UNIT': "what the price is for; by default what the id's prefix requires",
      '--name NAME': 'display name of a new model',
      '--via UPSTREAM': 'where calls go; by default as for the --like entry',
      '--model NAME': "the upstream's name for the model; guessed for a new model if omitted, with a note",
      '--released DATE': 'release date of a new model, as YYYY-MM-DD',
      '--dry-run': 'check and report, but write nothing',
    },
    exits: `${EXITS}; in that case nothing is written`,
  },
  'migrate-words': {
    usage: 'migrate-words [--check]',
    purpose: "Rewrite old words in catalogue/ as today's; comments, order and layout stay.",
    options: { '--check': 'report what would be rewritten, but write nothing' },
    exits: `${EXITS}: words that need a decision or, with --check, any old words`,
  },
  margin: {
    usage: 'margin [--usage FILE.csv]',
    purpose: 'Show what each entry costs and its margin, largest loss first.',
    options: { '--usage FILE.csv': "a usage export: show what its calls earn at today's prices and costs" },
    exits: EXITS,
  },
  'price-diff': {
    usage: 'price-diff BASE [--usage FILE.csv] [--threshold PERCENT]',
    purpose:
      'Compare the catalogue with a commit, a branch or a folder; fail on large price changes that are not acknowledged.',
    options: {
      '--usage FILE.csv': 'a usage export: show what its calls would have cost',
      '--threshold PERCENT': 'largest price change that needs no acknowledgement, 50 by default',
    },
    exits: '0, or 1 when a large change is not acknowledged',
  },
  'upstream-check': {
    usage: 'upstream-check [--upstream ID] [--timeout SECONDS]',
    purpose:
      'Ask providers, with the credentials in the environment, whether they still have the models in use, and until when.',
    options: {
      '--upstream ID': 'only this one; by default all, concurrently',
      '--timeout SECONDS': "timeout for a provider's whole list, 30 by default",
    },
    exits:
      '0, or 1 when a model is missing or ends on another day than the catalogue says, a provider fails, or none was asked',
  },
}

const USAGE = [
  'usage: node codegen/main.ts <command> [--json | --help]',
  ...Object.values(HELP).map(({ usage, purpose }) => `  ${usage}\n      ${purpose}`),
].join('\n')

/** Formats the help text of one command. */
function helpOf({ usage, purpose, options = {}, exits }: Help): string {
  const rows = Object.entries({ ...options, '--json': 'machine-readable output', '--help': 'this text' })
  const width = Math.max(...rows.map(([option]) => option.length))
  return [
    `usage: ${usage} [--json]`,
    purpose,
    '',
    ...rows.map(([option, text]) => `  ${option.padEnd(width)}  ${text}`),
    '',
    `Exit status: ${exits}; 2 for wrong usage.`,
  ].join('\n')
}

const root = join(import.meta.dirname, '..')

/**
 * Runs a command. Returns the exit status: 0, 1 if something needs fixing, or 2 for wrong usage. With `--json`, a command that fails
 * without a result prints what was wrong as `{"error": …}`, like the gateway's other commands.
 */
export async function run(argv: readonly string[], output: Output, project: Project = { root }): Promise<number> {
  if (!argv.includes('--json')) return runPlain(argv, output, project)
  const faults: string[] = []
  let hasResult = false
  let status = 0
  const out = (text: string): void => {
    hasResult = true
    output.out(text)
  }
  try {
    status = await runPlain(argv, { out, err: text => faults.push(text) }, project)
  } finally {
    const all = faults.join('\n')
    if (all !== '') output.err(status === 0 || hasResult ? all : JSON.stringify({ error: all }))
  }
  return status
}

async function runPlain(argv: readonly string[], output: Output, project: Project): Promise<number> {
  const [name = '', ...args] = argv
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
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
    const command = await load()
    return await command(project, args, output)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    output.err(error.message)
    return 2
  }
}
