/** Each alert has an entry in the runbook, and links to it. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readCommand } from '../../src/cli/arguments.ts'
import { readRules } from '../support/prometheus.ts'

const text = readFileSync(new URL('../../docs/runbook.md', import.meta.url), 'utf8')
const entries = new Map(
  text
    .split(/^## /m)
    .slice(1)
    .map(entry => [entry.slice(0, entry.indexOf('\n')), entry] as const),
)
const rules = readRules()

test('each alert has an entry and each entry an alert, in the same order', () => {
  expect([...entries.keys()]).toEqual(rules.map(({ alert }) => alert))
})

test('each entry says what the alert means, where to look first, and how to fix the fault', () => {
  const wrong = [...entries].filter(([, entry]) => {
    const looks = entry.split('\n').filter(line => /^\d\. /.test(line)).length
    return looks !== 3 || !/^\*\*Means\.\*\* ./m.test(entry) || !/^\*\*Mend\.\*\* ./m.test(entry)
  })
  expect(wrong.map(([alert]) => alert)).toEqual([])
})

test('each alert links to its entry', () => {
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`{{ $externalLabels.runbook }}docs/runbook.md#${alert.toLowerCase()}`)
})

test('the metrics that the runbook names are those of the documentation', () => {
  const known = readFileSync(new URL('../../docs/observability.md', import.meta.url), 'utf8')
  const named = [...text.matchAll(/\b(?:gateway|nodejs|process)_[a-z0-9_]+/g)].map(([name]) => name)
  expect([...new Set(named)].filter(name => !known.includes(`\`${name}\``))).toEqual([])
})

test('the commands of the runbook and of the operations page are typed as they are written, with values for WORDS', () => {
  const operations = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8')
  const written = [
    ...text.matchAll(/`gateway ((?:[a-z-]+ )+[^`\n]*\b[A-Z]{3,}[^`\n]*)`/g),
    ...operations.matchAll(/`((?:account|credit|key|payment|usage) [^`\n]*\b[A-Z]{3,}[^`\n]*)`/g),
  ].map(([, command = '']) => command)
  const values: Readonly<Record<string, string>> = { EMAIL: 'ann@example.com', VND: '50000', TEXT: 'why' }
  for (const command of written) {
    const words = command.split(' ').map(word => word.replace(/[A-Z]{3,}/, name => values[name] ?? name))
    expect(readCommand(words)?.spec.name, command).toMatch(/^[a-z -]+$/)
  }
  expect(written.length).toBeGreaterThan(3)
})
