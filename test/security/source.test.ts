/** Vulnerabilities that searching the source can rule out. */

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const sources = globSync('src/**/*.ts', { cwd: ROOT }).map(
  file => [file, readFileSync(join(ROOT, file), 'utf8')] as const,
)

const SQL =
  /\b(select\s.+\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from|set\s+local|create\s+(table|database)|drop\s+(table|database)|where\s+[\w.]+\s*(=|<|>|is|in|like)\s)/is

/** Folder that is not checked: it builds statements from the database's own table names, and only CLI commands use it. */
const BACKUP = 'src/ledger/backup/'

/** Interpolations that are allowed, because functions build these statements from constants only. */
const MADE_OF_CONSTANTS = [
  'src/lib/packed-rows.ts: listed(names)',
  'src/lib/packed-rows.ts: valueEnd',
  'src/lib/packed-rows.ts: nothing',
  'src/lib/packed-rows.ts: parameter',
  'src/lib/packed-rows.ts: rowEnd',
  ...Array<string>(3).fill('src/lib/search.ts: beginning'),
  'src/lib/search.ts: condition',
  'src/lib/search.ts: rows',
  "src/lib/search.ts: begun.join(' union ')",
  'src/lib/search.ts: contains',
  "src/lib/search.ts: equals.join(' or ')",
  "src/lib/search.ts: equal.join(' union ')",
  'src/ledger/audit-statement.ts: table',
  'src/ledger/audit-statement.ts: table',
  'src/ledger/audit-statement.ts: table',
  'src/ledger/audit-statement.ts: table',
  'src/ledger/audit-statement.ts: after',
  "src/ledger/audit-statement.ts: mode === 'full' ? 'and false' : ''",
  "src/ledger/audit-statement.ts: POINT.join(', ')",
  'src/ledger/audit-statement.ts: startOf(mode)',
  'src/ledger/audit-statement.ts: read',
  "src/ledger/audit-statement.ts: rowsOf('usage', mode, 'due.seq')",
  'src/ledger/audit-statement.ts: read',
  "src/ledger/audit-statement.ts: rowsOf('credit', mode, 'due.proven_seq')",
  'src/ledger/audit-statement.ts: read',
  'src/ledger/day-audit.ts: summed(one)',
  'src/ledger/day-audit.ts: summed(other)',
  'src/ledger/day-audit.ts: daysFrom',
  'src/ledger/day-audit.ts: hourDays',
  'src/ledger/recount.ts: table',
  'src/ledger/recount.ts: table',
  'src/ledger/roll-up.ts: seconds',
  'src/ledger/roll-up.ts: table',
  'src/ledger/roll-up.ts: table',
  "src/ledger/roll-up.ts: finalBefore('usage', '$2')",
  'src/ledger/roll-up.ts: table',
  "src/ledger/reports/hourly.ts: slotOf('hour')",
  'src/ledger/reports/hourly.ts: SERIES[by]',
  "src/ledger/reports/hourly.ts: sums.map(total).join(', ')",
  "src/ledger/reports/hourly.ts: filtered('tag')",
  "src/ledger/reports/hourly.ts: slotOf('closed_at')",
  "src/ledger/reports/hourly.ts: by === 'tag' ? \"coalesce(tag, '')\" : SERIES[by]",
  "src/ledger/reports/hourly.ts: sums.slice(1).map(total).join(', ')",
  'src/ledger/reports/hourly.ts: filtered("coalesce(tag, \'\')")',
  'src/ledger/reports/operator-calls.ts: attempts',
  'src/ledger/reports/operator-calls.ts: SOURCES[source]',
  'src/ledger/reports/operator-calls.ts: window',
  ...Array<string>(3).fill("src/ledger/reports/operator-calls.ts: source === 'account' ? 'seq' : 'call_id'"),
  // This interpolation is a number.
  'src/audit/audit.ts: Math.floor(options.timeoutMs)',
  'src/accounts/operator.ts: accounts',
]

/** Whether the position is inside the value of a module-level constant, which is computed once, from other constants. */
function isInConstant(text: string, place: number): boolean {
  const line = [...text.slice(0, place).matchAll(/^\S.*/gm)].at(-1)?.[0] ?? ''
  return /^(export )?const [A-Z][A-Z0-9_]* = /.test(line)
}

/** Lists what a file interpolates into SQL statements, except module-level constants. */
function stringsInSql(file: string, text: string): string[] {
  const wrong: string[] = []
  for (const { index, 0: literal } of text.matchAll(/`(?:[^`\\]|\\.)*`/gs)) {
    if (!SQL.test(literal) || /\bsql$/.test(text.slice(0, index)) || isInConstant(text, index)) continue
    const parts = [...literal.matchAll(/\$\{([^}]*)\}/g)].map(([, part]) => part as string)
    wrong.push(...parts.filter(part => !/^[A-Z][A-Z0-9_]*$/.test(part)).map(part => `${file}: ${part}`))
  }
  for (const { 0: sum } of text.matchAll(/(['"`])(?:select|insert|update|delete)\b[^'"`]*\1\s*\+/gi))
    wrong.push(`${file}: ${sum}`)
  return wrong
}

test('no SQL is built from strings: statements are constants, values are parameters', () => {
  const checked = sources.filter(([file]) => !file.startsWith(BACKUP))
  const made = checked.flatMap(([file, text]) => stringsInSql(file, text))
  expect(made).toEqual(MADE_OF_CONSTANTS)
  // Statements that are passed to `unsafe` by name must be constants.
  const calls = checked.flatMap(([file, text]) =>
    [...text.matchAll(/\.unsafe\(\s*([^,()\s`']+)/g)].map(match => `${file}: ${match[1]}`),
  )
  const odd = calls.filter(call => !/: [A-Z][A-Z0-9_]*$/.test(call))
  expect(odd.sort()).toEqual(
    [
      // The following variables hold one of several constants.
      'src/accounts/operator.ts: statement',
      'src/ledger/audit.ts: auditStatement',
      'src/ledger/day-audit.ts: STATEMENTS[mode]',
      'src/ledger/day-totals.ts: nextStatement',
      'src/ledger/day-totals.ts: statement',
      'src/ledger/recount.ts: count',
      'src/ledger/recount.ts: statement',
      'src/ledger/reports/business.ts: STATEMENTS[by]',
      'src/ledger/reports/hourly.ts: FIGURES[by]',
      'src/ledger/reports/upstream-figures.ts: statement',
      'src/ledger/roll-up.ts: statement',
      'src/ledger/roll-up.ts: markStatement',
      'src/ledger/roll-up.ts: countStatement',
      'src/ledger/roll-up.ts: move',
      'src/payments/orders.ts: LIST_ALL.get',
      'src/payments/orders.ts: SEARCH_ALL.get',
      // The following variables hold callers' statements, which the check above covers.
      'src/alerts/record.ts: statement',
      'src/app/back-office.ts: statement',
      'src/lib/watched-database.ts: ...words',
      'src/telemetry/database.ts: statement',
      'src/lib/database.ts: statement',
      ...Array<string>(2).fill('src/lib/search.ts: statement'),
      'src/ledger/reports/daily.ts: statement',
      'src/ledger/reports/operator-calls.ts: statement',
      // The following variable holds a migration, which is a file that we ship.
      'src/ledger/migrate.ts: next.text',
    ].sort(),
  )
})

test('only the command line reaches the code for backups', () => {
  const users = sources.filter(([file, text]) => text.includes('ledger/backup/') && !file.startsWith(BACKUP))
  expect(users.map(([file]) => file.split('/')[1]).filter(room => room !== 'cli')).toEqual([])
})

test('the check detects a statement that is built from strings', () => {
  const put = '$' + '{email}'
  expect(stringsInSql('x', `  sql.unsafe(\`select * from account where email = '${put}'\`)`)).toEqual(['x: email'])
  expect(stringsInSql('x', "sql.unsafe('select 1 from account where email = ' + email)")).toHaveLength(1)
  expect(stringsInSql('x', `  await sql\`select * from account where email = ${put}\``)).toEqual([])
  expect(stringsInSql('x', `const LIST = \`select ${put} from account where account_id = $1\``)).toEqual([])
})

test('templates are only compiled from files of the program, never from a request', () => {
  const users = sources.filter(([, text]) => /from 'handlebars'/.test(text)).map(([file]) => file)
  expect(users).toEqual(['src/dashboard/view/templates.ts'])
  const [, loader] = sources.find(([file]) => file === users[0]) as readonly [string, string]
  const compiled = [...loader.matchAll(/\.compile\(([^)]*)/g)].map(match => match[1])
  expect(new Set(compiled.map(argument => argument?.split('(')[0]))).toEqual(new Set(['readTemplate']))
  const callers = sources.filter(([, text]) => /\bloadTemplates\(/.test(text)).map(([file]) => file)
  expect(callers.sort()).toEqual(['src/dashboard/dashboard.ts', 'src/dashboard/view/templates.ts'])
})

test('no text is run as code, no request starts a program, and no request is parsed leniently', () => {
  const patterns: readonly [pattern: RegExp, allowed: readonly string[]][] = [
    [/\beval\(|new Function\(|from 'node:vm'/, []],
    [/from 'node:child_process'/, ['src/app/embedded-postgres.ts', 'src/app/embedded/', 'src/cli/catalogue.ts']],
    // With `sslmode=require`, whoever runs Postgres has chosen to trust any certificate.
    [
      /insecureHTTPParser: true|rejectUnauthorized: false|NODE_TLS_REJECT_UNAUTHORIZED/,
      ['src/lib/database-address.ts'],
    ],
    [/Readable\.fromWeb/, []],
    [/\{\{\{/, []],
  ]
  for (const [pattern, allowed] of patterns) {
    const found = sources.filter(([, text]) => pattern.test(text)).map(([file]) => file)
    expect([pattern.source, found.filter(file => !allowed.some(start => file.startsWith(start)))]).toEqual([
      pattern.source,
      [],
    ])
  }
  const raw = globSync('src/dashboard/templates/**/*.hbs', { cwd: ROOT }).filter(file =>
    /\{\{\{|\{\{&/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  // Only two things are not escaped: SVG of QR codes, and operators' Markdown pages, which our renderer turns into safe HTML.
  expect(raw.sort()).toEqual(
    ['duty', 'order', 'second-factor-enrol'].map(name => `src/dashboard/templates/${name}.hbs`),
  )
})

test('package versions are exact, and the HTTP libraries are newer than their known vulnerabilities', () => {
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const atLeast = (name: string, ...wanted: readonly number[]) => {
    const parts = (dependencies[name] as string).split('.').map(Number)
    const differs = parts.findIndex((part, index) => part !== wanted[index])
    return differs < 0 || (parts[differs] as number) > (wanted[differs] as number)
  }
  expect(Object.values(dependencies).filter(version => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(String(version)))).toEqual([])
  expect(atLeast('fastify', 5, 8, 3)).toBe(true)
  expect(atLeast('undici', 7, 24, 0)).toBe(true)
})

test('no connection is reserved, because on a pool without an open one the driver would wait forever', () => {
  // The driver's method has no parameters, unlike others of that name.
  expect(sources.filter(([, text]) => /\.reserve\(\s*\)/.test(text)).map(([file]) => file)).toEqual([])
})
