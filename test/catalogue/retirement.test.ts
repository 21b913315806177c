/** Retirements of entries that pass the checks or only cause a warning; bad/ has the ones that fail. */

import { expect, test } from 'vitest'
import { formatFindings } from '../../codegen/findings.ts'
import type { SourceText } from '../../codegen/source.ts'
import { compiler, withPassage } from './support.ts'

/** A catalogue in which beta-2 retires. beta-1 can do as much, so it is a fit successor. */
const deprecated = (facts: string) =>
  withPassage('families/beta.yaml', '{ id: beta-2,', `{ id: beta-2, deprecated: { since: 2026-01-01, ${facts} },`).map(
    source => ({ ...source, text: source.text.replace('context_tokens: 64000', 'context_tokens: 128000') }),
  )

const inMain = (texts: readonly SourceText[], from: string, to: string): SourceText[] =>
  texts.map(source => {
    if (!source.path.endsWith('/catalogue.yaml')) return source
    expect(source.text).toContain(from)
    return { ...source, text: source.text.replace(from, to) }
  })

function codes(texts: readonly SourceText[], today?: string): string[] {
  const { findings } = compiler.compile(texts, { lenient: false, ...(today && { today }) })
  return findings.map(finding => finding.code)
}

test('there is a warning from 60 days before a retirement, and another once the day has come', () => {
  const texts = deprecated('retires: 2027-03-01, successor: beta-1')
  expect(codes(texts, '2026-12-30')).toEqual([])
  expect(codes(texts, '2026-12-31')).toEqual(['retires-soon'])
  expect(codes(texts, '2027-02-28')).toEqual(['retires-soon'])
  expect(codes(texts, '2027-03-01')).toEqual(['retired'])
  // Without today's date, the check ignores retirements, so its result does not depend on when it runs.
  expect(codes(texts)).toEqual([])
})

test('a successor may cost up to half as much again, and more if its price is acknowledged', () => {
  const dearer = (vnd: number) =>
    deprecated('retires: 2027-03-01, successor: beta-1').map(source => ({
      ...source,
      text: source.path.endsWith('beta.yaml') ? source.text.replace('vnd: 1500', `vnd: ${vnd}`) : source.text,
    }))
  expect(codes(dearer(3000))).toEqual([])
  expect(codes(dearer(3001))).toEqual(['successor-dearer'])
  const price = (vnd: number) =>
    `acknowledged: [{ name: beta-2, price: { vnd: ${vnd}, per: mtok }, reason: meant }]\ncounts:`
  expect(codes(inMain(dearer(3001), 'counts:', price(3001)))).toEqual([])
  expect(codes(inMain(dearer(3001), 'counts:', price(3002)))).toEqual(['acknowledgement-stale', 'successor-dearer'])
})

test('the price of a removed name, which is the fallback’s, can be acknowledged', () => {
  const acknowledge = (vnd: number) =>
    inMain(
      deprecated('retires: 2027-03-01, successor: beta-1'),
      'counts:',
      `acknowledged: [{ name: gone, price: { vnd: ${vnd}, per: mtok }, reason: meant }]\ncounts:`,
    )
  expect(codes(acknowledge(6000))).toEqual([])
  expect(codes(acknowledge(2000))).toEqual(['acknowledgement-stale'])
})

test('a dated alias of the model may retire with it; any other alias must not', () => {
  const texts = deprecated('retires: 2027-03-01, successor: beta-1')
  expect(codes(inMain(texts, 'first:', 'beta-2-20251001: beta-2\n  first:'))).toEqual([])
  expect(codes(inMain(texts, 'first:', 'beta-2-latest: beta-2\n  first:'))).toEqual(['alias-retired'])
})

test('if no entry of its kind remains, a retirement needs no successor', () => {
  const texts = withPassage(
    'families/paint.yaml',
    '{ id: req/paint,',
    '{ id: req/paint, deprecated: { since: 2026-01-01, retires: 2027-03-01 },',
  )
  const { findings, tables } = compiler.compile(texts, { lenient: false, today: '2027-01-31' })
  expect(formatFindings(findings, 'text')).toContain(
    '"req/paint" retires in 29 days, on 2027-03-01: no other entry of its kind can serve its calls',
  )
  expect(tables).not.toBeNull()
})
