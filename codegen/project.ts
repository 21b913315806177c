/** Locates the project's files, and reads its catalogue from disk or at a given commit. */

import { execFileSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Compiled, createCompiler } from './compile.ts'
import { compareText, formatFindings, isError, UsageError } from './findings.ts'
import { migrateText } from './migrate.ts'
import { parseAhead } from './parse-ahead.ts'
import { readSchemas, SCHEMA_NAMES, type Schema, type SchemaName, type Schemas } from './schemas.ts'
import { readCatalogue, type SourceText } from './source.ts'

export interface Project {
  /** Folder that contains catalogue/, schemas/ and src/generated/. */
  readonly root: string
  /** ISO date on which to check retirements; by default, today in UTC. */
  readonly today?: string
  /** Environment variables to use instead of the process's own; providers' credentials are read from them. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

export function todayOf({ today }: Project): string {
  return today ?? new Date().toISOString().slice(0, 10)
}

/** Contains the generated tables that the gateway reads. Relative to the project's folder. */
export const GENERATED_FOLDER = 'src/generated'
/** Contains the generated types for the YAML files that operators write. Relative to the project's folder. */
export const FILE_TYPES_FOLDER = 'codegen/generated'

const GIT_OUTPUT_BYTES_MAX = 64 * 1024 * 1024
const GIT_TIMEOUT_MS = 30_000

export async function readProject({ root }: Project): Promise<readonly SourceText[]> {
  return parseAhead(readCatalogue(join(root, 'catalogue'), 'catalogue'))
}

/**
 * Compiles the catalogue in a folder or at a git commit, with the schemas found there. If the catalogue uses old dialect keys,
 * renames them and uses today's schemas instead. Throws UsageError.
 */
export async function compileBase({ root }: Project, base: string): Promise<Compiled & { schemas: Schemas }> {
  const isFolder = existsSync(join(base, 'catalogue')) && statSync(base).isDirectory()
  const written = isFolder ? readCatalogue(join(base, 'catalogue'), 'catalogue') : readCommit(root, base, 'catalogue')
  const texts = written.map(source =>
    source.parsed === undefined ? { path: source.path, text: migrateText(source).text } : source,
  )
  const isOld = texts.some(({ text }, index) => text !== written[index]?.text)
  const schemas = isOld ? readSchemas() : isFolder ? readFolderSchemas(base) : readCommitSchemas(root, base)
  const compiled = createCompiler(schemas).compile(await parseAhead(texts), { lenient: true })
  if (compiled.tables !== null) return { ...compiled, schemas }
  const errors = formatFindings(compiled.findings.filter(isError).slice(0, 5), 'text')
  throw new UsageError(`the catalogue of ${base} cannot be read:\n${errors}`)
}

function readFolderSchemas(folder: string): Schemas {
  const directory = join(folder, 'schemas')
  return existsSync(directory) ? readSchemas(directory) : readSchemas()
}

function readCommitSchemas(root: string, commit: string): Schemas {
  const texts = new Map(readCommit(root, commit, 'schemas').map(({ path, text }) => [path, text]))
  const current = readSchemas()
  const read = (name: SchemaName): Schema => {
    const text = texts.get(`schemas/${name}.schema.json`)
    return text === undefined ? current[name] : (JSON.parse(text) as Schema)
  }
  return Object.fromEntries(SCHEMA_NAMES.map(name => [name, read(name)])) as unknown as Schemas
}

function readCommit(root: string, commit: string, folder: string): SourceText[] {
  if (commit.startsWith('-')) throw new UsageError(`${commit} is not a commit`)
  const paths = git(root, ['ls-tree', '-r', '-z', '--name-only', `${commit}^{commit}`, '--', `${folder}/`], commit)
  return paths
    .split('\0')
    .filter(path => path !== '')
    .toSorted(compareText)
    .map(path => ({ path, text: git(root, ['show', `${commit}:./${path}`], commit) }))
}

function git(root: string, args: readonly string[], commit: string): string {
  try {
    return execFileSync('git', args, {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      maxBuffer: GIT_OUTPUT_BYTES_MAX,
      timeout: GIT_TIMEOUT_MS,
    })
  } catch (error) {
    const text =
      error instanceof Error && 'stderr' in error ? String(error.stderr).trim().split('\n')[0] : String(error)
    throw new UsageError(
      `git cannot read ${commit}: ${text}. Name a commit, a branch, or a folder with a catalogue/ in it`,
    )
  }
}
