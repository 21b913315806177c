/** Helpers for comparing two catalogues and for reading usage exports. */

import { expect } from 'vitest'
import { type Acknowledgement, type CatalogueDiff, diffTables } from '../../codegen/diff/diff.ts'
import { schemaDefaults } from '../../codegen/diff/facts.ts'
import type { SourceText } from '../../codegen/source.ts'
import type { Tables } from '../../src/generated/types.ts'
import { compiler, goodTexts, withFiles } from './support.ts'

export function tablesOf(texts: readonly SourceText[]): Tables {
  const { tables, findings } = compiler.compile(texts)
  if (tables === null) throw new Error(JSON.stringify(findings))
  return tables
}

export const good = tablesOf(goodTexts())
export const TODAY = '2026-11-21'

export function diffOf(now: Tables, acknowledged: readonly Acknowledgement[] = [], old = good): CatalogueDiff {
  const defaults = schemaDefaults(compiler.schemas)
  const options = {
    thresholdPercent: 50,
    today: TODAY,
    acknowledged,
    schemaDefaults: { old: defaults, now: defaults },
  }
  return diffTables(old, now, options)
}

/** The good catalogue with several passages of one file replaced. */
export function edited(name: string, ...changes: readonly [string, string][]): readonly SourceText[] {
  const source = goodTexts().find(({ path }) => path.endsWith(name))?.text ?? ''
  const text = changes.reduce((result, [from, to]) => {
    expect(result).toContain(from)
    return result.replace(from, to)
  }, source)
  return withFiles({ [name]: text })
}

/** Acknowledges beta-2's price in the catalogue, so that the checks accept it. */
export function withAcknowledged(texts: readonly SourceText[], price: string): readonly SourceText[] {
  const line = `acknowledged: [{ name: beta-2, price: ${price}, reason: meant }]\n`
  return texts.map(source =>
    source.path.endsWith('catalogue.yaml') ? { ...source, text: source.text + line } : source,
  )
}

export async function* chunksOf(text: string, size: number): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size)
}

export const USAGE = `\uFEFFtime,key,model,input_tokens,output_tokens,cost_vnd,latency_ms,status\r
2026-10-01,"a ""quoted"", key",beta-2,1000000,500000,3000,10,200\r
2026-10-01,k,beta-2,1000,0,0,10,502\r
2026-10-02,"two\nlines",req/alpha-1,5,5,900,10,200\r
2026-10-02,k,req/paint,0,0,1300,10,200\r
2026-10-02,k,gone,1,1,5.5,10,200\r
`
