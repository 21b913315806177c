/**
 * Searches the catalogue for models that match every word. Accents, case and separators within names make no difference, and a
 * word that matches no model is corrected to a known word one letter away.
 */

import type { Catalogue, CatalogueItem } from '../../catalogue/catalogue.ts'
import { type CatalogueModel, vendorName } from '../../catalogue/models.ts'
import { wordsOf } from './model-words.ts'

export interface Found {
  /** Best match first; equal matches keep their order. */
  readonly models: readonly CatalogueModel[]
  /** The corrected query; null if the query was used as typed. */
  readonly instead: string | null
}

interface Indexed {
  readonly model: CatalogueModel
  /** Parts of the model's names. */
  readonly parts: readonly string[]
  /** The model's names without the separators between their parts. */
  readonly names: readonly string[]
  /** Sequences of letters in the model's names. */
  readonly letters: readonly string[]
  /** Words for what the model can do. */
  readonly words: ReadonlySet<string>
  /** Words of the model's descriptions. */
  readonly prose: ReadonlySet<string>
}

const IS_NAME = 8
const STARTS_PART = 4
const IN_NAME = 3
const IN_WORDS = 2
const IN_PROSE = 1

export function searchModels(catalogue: Catalogue, models: readonly CatalogueModel[], query: string): Found {
  const all = models.map(model => indexed(catalogue, model))
  const typed = fold(query).split(/\s+/).filter(Boolean)
  const searched = typed.map(word => (all.some(each => scoreOf(each, word) > 0) ? word : nearest(all, word)))
  const scored = all.map(each => {
    const scores = searched.map(word => scoreOf(each, word))
    const whole = each.names.includes(joined(searched.join(''))) ? IS_NAME : 1
    return { model: each.model, score: scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, whole) }
  })
  const hits = scored.filter(({ score }) => score > 0).toSorted((left, right) => right.score - left.score)
  const isCorrected = searched.some((word, position) => word !== typed[position])
  return { models: hits.map(({ model }) => model), instead: isCorrected && hits.length > 0 ? searched.join(' ') : null }
}

/** Caches the search data of each model. A model's search data changes only when one of its entries retires. */
const index = new WeakMap<CatalogueItem, Indexed>()

function indexed(catalogue: Catalogue, model: CatalogueModel): Indexed {
  const known = index.get(model.main)
  if (known?.model.items.length === model.items.length) return { ...known, model }
  const made = indexOf(catalogue, model)
  index.set(model.main, made)
  return made
}

function indexOf(catalogue: Catalogue, model: CatalogueModel): Indexed {
  const entries = model.items.map(({ entry }) => entry)
  const { entry } = model.main
  const { family, vendor } = entry
  const called = entries.flatMap(({ id, name, aliases }) => [id, name, ...aliases])
  const names = [...called, family, vendor, vendorName(catalogue, vendor)].map(fold)
  const prose = [entry.description, entry.descriptionVi ?? ''].join(' ')
  return {
    model,
    parts: names.flatMap(wordsIn),
    names: names.map(joined),
    letters: [...new Set(entries.flatMap(({ id, name }) => lettersIn(`${id} ${name} ${vendor}`)))],
    words: new Set(model.items.flatMap(item => wordsIn(wordsOf(item)))),
    prose: new Set(wordsIn(prose)),
  }
}

/**
 * Minimum length of a word that may match inside a name: `re` (Vietnamese for cheap) must not find `preview`. Words with a digit
 * may be shorter.
 */
const INSIDE_LETTERS_MIN = 3

/** How well the word matches a model; 0: not at all. */
function scoreOf({ parts, names, words, prose }: Indexed, word: string): number {
  const bare = joined(word)
  if (bare === '') return 0
  if (names.includes(bare)) return IS_NAME
  if (parts.some(part => part.startsWith(bare))) return STARTS_PART
  const mayBeInside = bare.length >= INSIDE_LETTERS_MIN || /\d/.test(bare)
  if (mayBeInside && names.some(name => name.includes(bare))) return IN_NAME
  if (hasWord(words, word)) return IN_WORDS
  return hasWord(prose, word) ? IN_PROSE : 0
}

/** Minimum length for prefix matches: many short Vietnamese words are also prefixes of English words. */
const BEGINNING_LETTERS_MIN = 4

function hasWord(words: ReadonlySet<string>, word: string): boolean {
  if (words.has(word)) return true
  return word.length >= BEGINNING_LETTERS_MIN && words.values().some(each => each.startsWith(word))
}

/** Removes accents and puts letters into lower case. */
function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().replaceAll('đ', 'd')
}

/** Writes `gpt-5.5` as `gpt55`; other punctuation stays, and matches nothing. */
function joined(folded: string): string {
  return folded.replace(/[\s\-_./:()]/g, '')
}

function wordsIn(text: string): string[] {
  return fold(text)
    .split(/[^a-z0-9]+/)
    .filter(Boolean)
}

/** Replaces each unknown sequence of letters in the word with a known sequence one letter away, if there is any. */
function nearest(all: readonly Indexed[], word: string): string {
  const known = new Set(all.flatMap(({ letters, words, prose }) => [...letters, ...words, ...prose]))
  return word.replace(/[a-z]+/g, letters =>
    known.has(letters) ? letters : (known.values().find(each => isLetterApart(letters, each)) ?? letters),
  )
}

function lettersIn(name: string): readonly string[] {
  return fold(name).match(/[a-z]+/g) ?? []
}

const FORGIVEN_LETTERS_MIN = 4

/** Whether one letter is extra, missing or wrong, or two are swapped; in very short words only a swap counts. */
function isLetterApart(typed: string, known: string): boolean {
  const start = sharedStart(typed, known)
  const [left, right] = [typed.slice(start), known.slice(start)]
  const isSwapped = left[0] === right[1] && left[1] === right[0] && left.slice(2) === right.slice(2)
  if (isSwapped && left.length >= 2) return typed.length >= 3
  if (Math.min(typed.length, known.length) < FORGIVEN_LETTERS_MIN) return false
  return left.slice(1) === right.slice(1) || left.slice(1) === right || left === right.slice(1)
}

function sharedStart(left: string, right: string): number {
  let shared = 0
  while (shared < left.length && left[shared] === right[shared]) shared++
  return shared
}
