/** The log of operators' actions, as a page with filters and as CSV. */

import { type ActionFilter, listActions, listActors, type OperatorAction } from '../../accounts/operator-log.ts'
import { textCell } from '../../ledger/reports/csv.ts'
import { addDays, isDay, startOfDay } from '../../ledger/reports/days.ts'
import type { Sql } from '../../lib/database.ts'
import { vietnamTime } from '../../lib/vietnam-time.ts'
import { csvAnswer } from '../csv.ts'
import { type Answer, idOf, type Page, type PageRequest } from '../page.ts'
import { TEXTS, text } from '../texts/index.ts'
import { operatorPage } from './frame.ts'
import { actionView, actorInWords, describe } from './log-view.ts'

const READ = { method: 'GET', authentication: 'operator', needs: 'read' } as const

export const LOG_PAGES: readonly Page[] = [
  { ...READ, path: '/operator/log', purpose: 'What operators did', handle: show },
  { ...READ, path: '/operator/log.csv', purpose: 'The same as CSV', handle: exportCsv },
]

const CSV_PAGE_ROWS = 200
const PREFIX = 'operator.action.'
/** The actions to filter by: all that have a text. */
const ACTIONS = Object.keys(TEXTS)
  .filter(key => key.startsWith(PREFIX))
  .map(key => key.slice(PREFIX.length).replaceAll('_', '.'))

function filterOf({ query }: PageRequest) {
  const [from, to] = [query.text('from'), query.text('to')]
  return {
    account: idOf(query.text('account')),
    action: query.choice('action', ACTIONS),
    by: query.text('by', 254),
    text: query.text('q', 100),
    from: isDay(from) ? from : '',
    to: isDay(to) ? to : '',
  }
}

function conditionsOf(request: PageRequest): ActionFilter {
  const { account, action, by, text: wanted, from, to } = filterOf(request)
  return {
    accountId: account ?? undefined,
    action: action ?? undefined,
    by: by || undefined,
    text: wanted || undefined,
    from: from === '' ? undefined : startOfDay(from),
    to: to === '' ? undefined : startOfDay(addDays(to, 1)),
  }
}

async function show(request: PageRequest): Promise<Answer> {
  const { options, query, language } = request
  const beforeId = idOf(query.text('before'))
  const limit = options.limits.tableRows
  const asked = filterOf(request)
  const [actions, actors] = await Promise.all([
    listActions(options.sql, { ...conditionsOf(request), ...(beforeId !== null && { beforeId }), limit }),
    listActors(options.sql),
  ])
  const last = actions.at(-1)
  return operatorPage(request, 'operator-log', 'log', {
    ...asked,
    account: asked.account ?? '',
    kinds: ACTIONS.map(action => ({
      value: action,
      label: describe(language, action),
      isChosen: action === asked.action,
    })),
    actors: actors.map(name => ({ name, label: actorInWords(language, name), isChosen: name === asked.by })),
    actions: actions.map(action => actionView(request, action)),
    csv: `/operator/log.csv${query.with({ before: null })}`,
    more: actions.length === limit && last ? `/operator/log${query.with({ before: String(last.actionId) })}` : null,
  })
}

async function exportCsv(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const header = COLUMNS.map(key => text(language, key))
  const lines = csvLines(options.sql, conditionsOf(request), entry => {
    const { at, what, email, accountId, subject, reason, by } = actionView(request, entry)
    return [vietnamTime(at), what, accountId === null ? '' : String(accountId), email ?? '', subject, reason, by.name]
  })
  return csvAnswer(request, { chunks: withHeader(header, lines), fileName: 'operator-log.csv' })
}

const COLUMNS = [
  'usage.csv.column.time',
  'operator.log.action',
  'operator.log.account_number',
  'operator.account',
  'operator.log.subject',
  'operator.reason',
  'operator.log.by',
] as const

/** Spreadsheets recognise UTF-8 by the byte-order mark at the beginning. */
async function* withHeader(header: readonly string[], lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield `\ufeff${header.map(textCell).join(',')}\r\n`
  yield* lines
}

async function* csvLines(
  sql: Sql,
  filter: ActionFilter,
  cellsOf: (entry: OperatorAction) => readonly string[],
): AsyncGenerator<string> {
  let beforeId: number | undefined
  for (;;) {
    const rows = await listActions(sql, {
      ...filter,
      ...(beforeId !== undefined && { beforeId }),
      limit: CSV_PAGE_ROWS,
    })
    yield rows.map(entry => `${cellsOf(entry).map(textCell).join(',')}\r\n`).join('')
    if (rows.length < CSV_PAGE_ROWS) return
    beforeId = rows.at(-1)?.actionId
  }
}
