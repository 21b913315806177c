/**
 * `add ID --like ENTRY --price VND`: adds an entry next to a similar one, raises the expected numbers of entries in the
 * settings, makes it the successor of entries that had none, checks the catalogue, and generates its tables.
 */

import { join } from 'node:path'
import { successorless } from '../checks/retirements.ts'
import { ownCompiler } from '../compile.ts'
import {
  addMember,
  applyEdits,
  type Edit,
  flowText,
  insertAfterItem,
  insertBeforeItem,
  itemIndent,
  replaceScalar,
} from '../edit.ts'
import { formatFindings, UsageError } from '../findings.ts'
import { replaceFile, writeFiles } from '../generate.ts'
import type { Output } from '../output.ts'
import { type Project, readProject } from '../project.ts'
import type { SourceFile, SourceText } from '../source.ts'
import { didYouMean } from '../spelling.ts'
import { isStandard, KINDS, PER_CALL_PREFIX, prefixOf } from '../standards.ts'
import { asNumber, asRecord, type CatalogueView, type EntryView, type Loose } from '../view.ts'
import { parseOptions } from './options.ts'

const OPTIONS = {
  like: { type: 'string' },
  price: { type: 'string' },
  per: { type: 'string' },
  name: { type: 'string' },
  via: { type: 'string' },
  model: { type: 'string' },
  released: { type: 'string' },
  'dry-run': { type: 'boolean' },
  json: { type: 'boolean' },
} as const

interface Wish {
  readonly id: string
  readonly like: EntryView
  readonly vnd: number
  readonly per: string
  readonly name: string | undefined
  readonly via: string | undefined
  readonly model: string | undefined
  readonly released: string | undefined
}

/** Adds an entry. Writes nothing unless the whole catalogue is valid afterwards. */
export async function add(project: Project, args: readonly string[], output: Output): Promise<number> {
  const { values, positionals } = parseOptions(args, OPTIONS, ['ID (the new entry)'])
  const compiler = ownCompiler()
  const texts = await readProject(project)
  const before = compiler.compile(texts)
  if (before.tables === null) {
    output.err(`${formatFindings(before.findings, 'text')}\nFix these first.`)
    return 1
  }
  const wish = readWish(before.view, positionals[0] as string, values)
  const edits = planEdits(before.view, wish)
  const edited = texts.map(({ path, text }) => ({
    path,
    text: applyEdits(
      text,
      (edits.get(path) ?? []).map(each => each.edit),
    ),
  }))
  const after = compiler.compile(edited)
  if (after.findings.length > 0) output.err(formatFindings(after.findings, 'text'))
  if (after.resolved === null) {
    output.err('Nothing was written.')
    return 1
  }
  const entry = after.view.byId.get(wish.id) as EntryView
  const place = entry.file.locate(entry.path)
  if (values['dry-run'] !== true) {
    const [{ renderFiles }, { writeCachedTypes }] = await Promise.all([import('../render.ts'), import('../types.ts')])
    const files = await renderFiles(after.resolved, compiler.schemas, writeCachedTypes)
    for (const { path, text } of changedTexts(texts, edited)) replaceFile(join(project.root, path), text)
    writeFiles(project.root, files)
  }
  const verb = values['dry-run'] === true ? 'would add' : 'added'
  const targets = entry.targets.map(({ via, value }) => ({ via, model: String(value.model) }))
  const succeeds = after.view.entries.filter(each => each.deprecated.successor === wish.id).map(({ id }) => id)
  const guessed = isGuess(wish)
  if (guessed) output.err(guessNote(wish, targets))
  if (values.json === true) {
    const { file, line } = place
    const written = verb === 'added'
    output.out(JSON.stringify({ id: wish.id, file, line, written, upstream: targets, guessed, succeeds }))
  } else {
    output.out(`${verb} ${wish.id} at ${place.file}:${place.line}: ${wish.vnd} VND per ${wish.per}`)
    if (succeeds.length > 0) output.out(`${verb} it as the successor of ${succeeds.join(', ')}`)
  }
  return 0
}

function changedTexts(before: readonly SourceText[], after: readonly SourceText[]): readonly SourceText[] {
  return after.filter(({ text }, index) => text !== before[index]?.text)
}

type Values = Readonly<Partial<Record<keyof typeof OPTIONS, string | boolean>>>

function readWish(view: CatalogueView, id: string, values: Values): Wish {
  const text = (key: keyof typeof OPTIONS) => (typeof values[key] === 'string' ? values[key] : undefined)
  const likeId = text('like')
  const price = text('price')
  if (likeId === undefined) throw new UsageError('--like is missing: name the entry to copy')
  if (price === undefined) throw new UsageError('--price is missing: prices are never inherited')
  if (!/^[1-9][0-9]{0,8}$/.test(price)) {
    throw new UsageError(
      `--price ${price}: write whole dong as digits only, e.g. ${/^[0-9][0-9., ]*$/.test(price) ? price.replace(/[., ]/g, '') : '6500'}`,
    )
  }
  const like = view.byId.get(likeId)
  if (like === undefined)
    throw new UsageError(`--like: the catalogue has no entry ${likeId}; ${didYouMean(likeId, [...view.byId.keys()])}`)
  if (view.byId.has(id)) throw new UsageError(`${id} is already an entry`)
  const kind = isStandard(like.standard) ? KINDS[like.standard] : 'chat'
  const perCall = kind === 'image' ? 'image' : 'request'
  return {
    id,
    like,
    vnd: Number(price),
    per: text('per') ?? (prefixOf(id) === PER_CALL_PREFIX ? perCall : 'mtok'),
    name: text('name'),
    via: text('via'),
    model: text('model'),
    released: text('released'),
  }
}

interface FileEdit {
  readonly path: string
  readonly edit: Edit
}

/** Plans the edits that add the entry, by file path. */
function planEdits(view: CatalogueView, wish: Wish): ReadonlyMap<string, readonly FileEdit[]> {
  const { like } = wish
  const isSameModel = isOneMoreOf(like, wish.id)
  if (isSameModel && wish.name !== undefined) {
    throw new UsageError(
      `--name: ${wish.id} is another entry of ${String(like.model.value.name)}, which already has a name`,
    )
  }
  const line = flowText(entryOf(wish, isSameModel))
  const edit = isSameModel ? insertAfterItem(like.file, like.path, line) : insertModel(wish, line)
  const edits = [
    { path: like.file.path, edit },
    ...(view.main === undefined ? [] : countEdits(view, view.main, wish.id)),
    ...successorless(view, like).map(({ file, path }) => ({
      path: file.path,
      edit: addMember(file, [...path, 'deprecated'], `successor: ${flowText(wish.id)}`),
    })),
  ]
  return Map.groupBy(edits, each => each.path)
}

/** Whether the upstream's name for the model is a guess, as it is for a new model without `--model`. */
function isGuess(wish: Wish): boolean {
  return wish.model === undefined && !isOneMoreOf(wish.like, wish.id)
}

function guessNote({ id }: Wish, targets: readonly { via: string; model: string }[]): string {
  const [first] = targets
  return `${id} goes to ${first?.via} as "${first?.model}", which is a guess: set the name that ${first?.via} uses with --model NAME`
}

function isOneMoreOf(like: EntryView, id: string): boolean {
  return like.model.entries.some(entry => bareName(entry.id) === bareName(id))
}

function bareName(id: string): string {
  return id.slice(id.indexOf('/') + 1)
}

function entryOf(wish: Wish, isSameModel: boolean): Loose {
  const { id: _id, price: _price, name: _name, deprecated: _deprecated, upstream, ...rest } = wish.like.value
  const kept = isSameModel ? rest : {}
  return {
    id: wish.id,
    price: { vnd: wish.vnd, per: wish.per },
    ...kept,
    upstream: upstreamOf(wish, upstream, isSameModel),
  }
}

function upstreamOf(wish: Wish, upstream: unknown, isSameModel: boolean): unknown {
  if (wish.via === undefined && wish.model === undefined && isSameModel) return upstream
  const first = asRecord(Array.isArray(upstream) ? upstream[0] : upstream)
  const via = wish.via ?? first.via
  if (isSameModel && wish.model === undefined && via !== first.via) {
    throw new UsageError(`--model is missing: ${String(via)} may use another name than ${String(first.model)}`)
  }
  const { cost: _cost, ...facts } = first
  const kept = via !== first.via ? {} : isSameModel ? first : facts
  return { ...kept, via, model: wish.model ?? (isSameModel ? first.model : bareName(wish.id)) }
}

/** Inserts a model that copies the fields of the `--like` entry's model, above that model: families list new models first. */
function insertModel(wish: Wish, entryLine: string): Edit {
  const { model, file } = wish.like
  if (wish.name === undefined)
    throw new UsageError(`--name is missing: ${wish.id} is a new model of the family ${model.family.name}`)
  const {
    name: _name,
    description: _text,
    description_vi: _textVi,
    released: _day,
    deprecated: _end,
    entries: _entries,
    ...same
  } = model.value
  // The new model does not inherit the cost of the model that it is copied from.
  const { cost: _cost, ...facts } = same
  const inner = itemIndent(file, [...model.path, 'entries', 0]).slice(itemIndent(file, model.path).length)
  const released = wish.released === undefined ? [] : [`  released: ${wish.released}`]
  return insertBeforeItem(file, model.path, [
    `- name: ${flowText(wish.name)}`,
    ...Object.entries(facts).map(([key, value]) => `  ${key}: ${flowText(value)}`),
    ...released,
    '  entries:',
    `${inner}- ${entryLine}`,
  ])
}

function countEdits(view: CatalogueView, main: SourceFile, id: string): FileEdit[] {
  const counts = asRecord(view.settings.counts)
  const prefix = prefixOf(id)
  const raised = [
    'entries',
    ...(prefix === view.service ? ['aws'] : []),
    ...(prefix === PER_CALL_PREFIX ? ['per_call'] : []),
  ]
  return raised.map(key => ({
    path: main.path,
    edit: replaceScalar(main, ['counts', key], String((asNumber(counts[key]) ?? 0) + 1)),
  }))
}
