/** Formats the providers' answers as text. */

import type { Answer } from './ask.ts'
import type { ModelJudgement } from './judge.ts'

export type Judged = Exclude<Answer, { outcome: 'asked' }> | JudgedAnswer

export interface JudgedAnswer {
  readonly id: string
  readonly outcome: 'asked'
  readonly credential: string
  /** Number of models in the provider's list. */
  readonly listed: number
  readonly models: readonly ModelJudgement[]
}

export function renderJudged(judged: readonly Judged[]): string {
  return judged.flatMap(each => linesOf(each)).join('\n')
}

function linesOf(judged: Judged): string[] {
  if (judged.outcome === 'not_asked') return [`${judged.id}: not asked, ${judged.reason}`]
  if (judged.outcome === 'failed') return [`${judged.id}: failed with ${judged.credential}, ${judged.reason}`]
  const { id, listed, models } = judged
  const wrong = models.filter(({ finding }) => finding !== null).length
  const heading = `${id}: ${listed} models listed; ${models.length} in use, ${wrong === 0 ? 'all in order' : `${wrong} to look at`}`
  return [heading, ...models.flatMap(model => lineOf(model))]
}

function lineOf({ model, finding, listedAs, shutdownOn, entries }: ModelJudgement): string[] {
  const names = entries.map(({ id }) => id).join(', ')
  const sold = names === model ? '' : ` (${names})`
  const subject = `  ${model}${sold}${listedAs === null ? '' : `, listed as ${listedAs},`}`
  switch (finding) {
    case 'missing':
      return [`${subject} is not listed`]
    case 'ended':
      return [`${subject} was shut down on ${shutdownOn}`]
    case 'unannounced':
      return [
        `${subject} ends on ${shutdownOn}, but the catalogue does not say so: write \`deprecated: … retires: ${shutdownOn}\``,
      ]
    case 'differs':
      return [`${subject} ends on ${shutdownOn}; the catalogue says ${ends(entries)}`]
    case null:
      return shutdownOn === null ? [] : [`${subject} ends on ${shutdownOn}, as the catalogue says`]
  }
}

function ends(entries: ModelJudgement['entries']): string {
  return [...new Set(entries.map(({ retiresOn }) => retiresOn ?? 'nothing'))].join(' and ')
}
