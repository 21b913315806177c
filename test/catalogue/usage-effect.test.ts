/** What a month of usage would have cost under the old and under the new catalogue. */

import { expect, test } from 'vitest'
import { readCsv } from '../../codegen/diff/csv.ts'
import { renderMarkdown } from '../../codegen/diff/markdown.ts'
import { usageEffect } from '../../codegen/diff/usage.ts'
import { chunksOf, diffOf, edited, good, TODAY, tablesOf, USAGE } from './diff-support.ts'

test('CSV is read with quotes, line breaks in fields, and a last line without an end', async () => {
  const text = '\uFEFFa,"b ""q"", c","d\ne"\r\n\r\n"",x,""\nlast'
  for (const size of [1, 3, 100]) {
    expect(await Array.fromAsync(readCsv(chunksOf(text, size)))).toEqual([
      ['a', 'b "q", c', 'd\ne'],
      ['', 'x', ''],
      ['last'],
    ])
  }
  await expect(Array.fromAsync(readCsv(chunksOf(`"${'x'.repeat(1_000_001)}`, 9999)))).rejects.toThrow('never ends')
})

test('the same calls are priced under both catalogues, however the file is split into chunks', async () => {
  const now = tablesOf(edited('families/beta.yaml', ['vnd: 2000', 'vnd: 3000']))
  for (const size of [1, 7, 10_000]) {
    expect(await usageEffect(chunksOf(USAGE, size), good, now, TODAY)).toEqual({
      rows: [
        { name: 'beta-2', calls: 1, oldVnd: 3000n, newVnd: 4500n },
        { name: 'req/alpha-1', calls: 1, oldVnd: 900n, newVnd: 900n },
        { name: 'req/paint', calls: 1, oldVnd: 1300n, newVnd: 1300n },
      ],
      oldVnd: 5200n,
      newVnd: 6700n,
      unknown: ['gone'],
    })
  }
  const effect = await usageEffect(chunksOf(USAGE, 100), good, now, TODAY)
  expect(renderMarkdown(diffOf(now), 'main', 50, effect)).toContain(
    `| \`beta-2\` | 1 | 3,000 | 4,500 | +50.0 % |
| **all 3 names** | 3 | 5,200 | 6,700 | +28.8 % |

Left out, because the base does not know them: \`gone\`.`,
  )
})

test('calls of a former entry that is now an alias are priced as the alias’s entry, before and after', async () => {
  const aliases = (goal: string) => edited('catalogue.yaml', ['aliases:\n', `aliases:\n  once-sold: ${goal}\n`])
  const usage = USAGE.replace('k,gone,1,1,', 'k,once-sold,1000000,0,')
  const [old, now] = [tablesOf(aliases('beta-2')), tablesOf(aliases('alpha-1'))]
  const { rows, unknown } = await usageEffect(chunksOf(usage, 100), old, now, TODAY)
  expect(rows.find(({ name }) => name === 'once-sold')).toEqual({
    name: 'once-sold',
    calls: 1,
    oldVnd: 2000n,
    newVnd: 6000n,
  })
  expect(unknown).toEqual([])
})

test('calls of a removed entry are priced as the entry that takes them over', async () => {
  const now = tablesOf(edited('families/beta.yaml', ['{ id: beta-2,', '{ id: beta-3,']))
  const { rows } = await usageEffect(chunksOf(USAGE, 100), good, now, TODAY)
  expect(rows[0]).toEqual({ name: 'beta-2', calls: 1, oldVnd: 3000n, newVnd: 9000n })
})

test('for a usage file that lacks columns the error names them', async () => {
  await expect(usageEffect(chunksOf('time,model\n', 100), good, good, TODAY)).rejects.toThrow(
    'the usage file has no column for input; expected one called inputtokens',
  )
  await expect(usageEffect(chunksOf('', 100), good, good, TODAY)).rejects.toThrow('the usage file is empty')
})

test.each([
  ['a number with separators', 'beta-2,"1,000,000",0,2000', 'record 2 of the usage file: "1,000,000" in the column'],
  ['an exponent', 'beta-2,1E+06,0,2000', '"1E+06" in the column "input_tokens" is not a plain number'],
  ['a comma in the cost', 'beta-2,1000000,0,"2000,5"', '"2000,5" in the column "cost_vnd" is not a plain number'],
  ['a currency', 'beta-2,1000000,0,2.000 ₫', '"2.000 ₫" in the column "cost_vnd"'],
  ['a cut line', 'beta-2,1000000,0', 'record 2 of the usage file has 3 fields instead of 4'],
])('a usage file is refused rather than read in part: %s', async (_, line, message) => {
  const usage = `model,input_tokens,output_tokens,cost_vnd\n${line}\n`
  await expect(usageEffect(chunksOf(usage, 100), good, good, TODAY)).rejects.toThrow(message)
})

test('a file that sums up calls is no usage', async () => {
  const business =
    'model,calls,errors,input_tokens,output_tokens,revenue_vnd,cost_vnd\nreq/alpha-1,40,0,9,9,36000,100\n'
  await expect(usageEffect(chunksOf(business, 100), good, good, TODAY)).rejects.toThrow(
    'the usage file sums up calls in a column "calls"; give it with a row for each call',
  )
})
