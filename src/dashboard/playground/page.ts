/** The playground's page, and the endpoint that reports what a playground call cost. */

import { playgroundSpentToday } from '../../accounts/playground-key.ts'
import { readUsageRow } from '../../ledger/reports/rows.ts'
import { callIdOf } from '../../lib/ids.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { type TextKey, text } from '../texts/index.ts'
import { count, dong, dongOfMicro } from '../view/format.ts'
import { modelGroups, playgroundModels } from './catalogue.ts'

export const PLAYGROUND_PAGES: readonly Page[] = [
  { method: 'GET', path: '/playground', authentication: 'session', purpose: 'Trying models', handle: show },
  {
    method: 'GET',
    path: '/playground/bill',
    authentication: 'session',
    purpose: 'What a call of the playground came to, as JSON',
    handle: settled,
  },
]

/** UI texts passed to the page's script. */
const SCRIPT_TEXTS: Readonly<Record<string, TextKey>> = {
  writing: 'playground.writing',
  done: 'playground.done',
  stopped: 'playground.stopped',
  stoppedWhole: 'playground.stopped_whole',
  atMost: 'playground.at_most',
  noPicture: 'playground.no_picture',
  cut: 'playground.cut',
  reasoning: 'playground.reasoning',
  firstByte: 'playground.first_byte',
  tokens: 'playground.tokens',
  total: 'playground.total',
  settling: 'playground.settling',
  unsettled: 'playground.unsettled',
  you: 'playground.you',
  picture: 'playground.picture',
  remove: 'playground.remove',
  drawn: 'playground.drawn',
  spoken: 'playground.spoken',
  noPrompt: 'playground.fault.prompt',
  notPicture: 'playground.fault.picture',
  tooLarge: 'playground.fault.large',
  notNumber: 'playground.fault.number',
  blind: 'playground.fault.blind',
  onePicture: 'playground.fault.one',
  error401: 'playground.error.401',
  error402: 'playground.error.402',
  error403: 'playground.error.403',
  error413: 'playground.error.413',
  error429: 'playground.error.429',
  error503: 'playground.error.503',
  errorCap: 'playground.error.cap',
  errorOther: 'playground.error.other',
  errorNetwork: 'playground.error.network',
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, language, query } = request
  const { catalogue, limits, sql, publicUrl } = options
  const { accountId } = signedIn(request)
  const daily = dong(limits.playgroundDailyVndMax)
  const models = playgroundModels(catalogue)
  const asked = catalogue.resolve(query.text('model', 256))?.entry.id ?? ''
  const texts = Object.entries(SCRIPT_TEXTS).map(([name, key]) => [name, scriptText(language, key, daily)])
  return {
    kind: 'page',
    template: 'playground',
    title: text(language, 'playground.title'),
    section: 'playground',
    modules: ['playground.js'],
    styles: ['playground.css'],
    data: {
      groups: modelGroups(catalogue),
      chosen: asked in models ? asked : catalogue.settings.fallback,
      facts: JSON.stringify({ models, texts: Object.fromEntries(texts), url: publicUrl }),
      daily,
      spent: dongOfMicro(await playgroundSpentToday(sql, accountId)),
    },
  }
}

/** Fills in the daily limit, and leaves the other placeholders to the script. */
function scriptText(language: PageRequest['language'], key: TextKey, daily: string): string {
  return text(language, key, { daily, seconds: '{seconds}', input: '{input}', output: '{output}', name: '{name}' })
}

async function settled(request: PageRequest): Promise<Answer> {
  const { options, query } = request
  const { accountId } = signedIn(request)
  const callId = callIdOf(query.text('call'))
  const row = callId === null ? null : await readUsageRow(options.sql, { accountId, callId })
  const spent = dongOfMicro(await playgroundSpentToday(options.sql, accountId))
  const call = row && {
    status: row.status,
    cost: dongOfMicro(row.chargedMicroVnd),
    input: count(row.inputTokens),
    output: count(row.outputTokens),
    isEstimated: row.estimated,
  }
  return { kind: 'file', contentType: 'application/json', body: JSON.stringify({ call, spent }) }
}
