/** Checks that adding the two example providers of this folder takes little YAML and causes no findings. */

import { expect, test } from 'vitest'
import { ownCompiler } from '../../codegen/compile.ts'
import { formatFindings } from '../../codegen/findings.ts'
import { added, FAMILIES, sources } from './catalogue.ts'

const LINES_MAX = 50

test.each(FAMILIES)('%s is one block and one file of less than 50 lines', family => {
  expect(added(`${family}.yaml`).trimEnd().split('\n').length).toBeLessThan(LINES_MAX)
  const blocks = added('upstreams.yaml').split(/^(?= {2}[a-z])/m)
  expect(blocks.filter(block => block.startsWith(`  ${family}:`))).toHaveLength(1)
})

test('the catalogue with both providers has no findings', () => {
  expect(formatFindings(ownCompiler().compile(sources()).findings, 'text')).toBe('')
})
