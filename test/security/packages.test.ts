/** `make check` refuses packages with a disallowed licence or origin, an install script, or a serious vulnerability. */

import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { isAllowed, judgePackages, type LockedPackage, readAudit } from '../../.ci/packages.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string) => JSON.parse(readFileSync(ROOT + name, 'utf8'))
const GOOD: LockedPackage = {
  version: '1.0.0',
  license: 'MIT',
  resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz',
  integrity: 'sha512-abc',
}

test('all packages of the lockfile have an allowed licence', () => {
  const { packages } = read('package-lock.json')
  expect(Object.keys(packages).length).toBeGreaterThan(90)
  expect(judgePackages(packages, new Set(Object.keys(read('package.json').allowScripts)))).toEqual([])
})

test.each([
  ['MIT', true],
  ['(MIT OR Apache-2.0)', true],
  ['(GPL-3.0 OR MIT)', true],
  ['MIT AND GPL-3.0', false],
  ['AGPL-3.0-only', false],
  ['SEE LICENSE IN LICENSE.md', false],
  ['', false],
])('the licence %j is allowed: %s', (expression, allowed) => {
  expect(isAllowed(expression)).toBe(allowed)
})

test.each<[string, Partial<LockedPackage>, RegExp]>([
  ['another licence', { license: 'AGPL-3.0' }, /a 1\.0\.0: the licence AGPL-3\.0/],
  ['another registry', { resolved: 'https://evil.example/a.tgz' }, /does not come from/],
  ['a repository', { resolved: 'git+ssh://git@github.com/a/a.git#1' }, /does not come from/],
  ['a weak checksum', { integrity: 'sha1-abc' }, /does not come from/],
  ['a script of its own', { hasInstallScript: true }, /runs a script/],
])('a package with %s is refused, in production only', (_name, change, fault) => {
  const packages = { '': {}, 'node_modules/b/node_modules/a': { ...GOOD, ...change } }
  expect(judgePackages(packages, new Set())).toEqual([expect.stringMatching(fault)])
  expect(judgePackages({ 'node_modules/a': { ...GOOD, ...change, dev: true } }, new Set())).toEqual([])
  expect(judgePackages({ 'node_modules/a': GOOD }, new Set())).toEqual([])
})

test('only advisories of high and critical severity fail the check', () => {
  const via = [{ title: 'Request smuggling', url: 'https://example.test/GHSA-1' }, 'undici']
  const report = (severity: string) => JSON.stringify({ vulnerabilities: { fastify: { severity, via } } })
  for (const severity of ['high', 'critical']) {
    expect(readAudit(report(severity))).toEqual({
      outcome: 'found',
      faults: [`fastify: ${severity}, Request smuggling https://example.test/GHSA-1; by undici`],
    })
  }
  expect(readAudit(report('moderate'))).toEqual({ outcome: 'clean' })
  expect(readAudit('{"vulnerabilities":{}}')).toEqual({ outcome: 'clean' })
})

test('a registry without an audit fails nothing', () => {
  expect(readAudit('{"message":"405 Method Not Allowed","error":{"summary":""}}')).toEqual({
    outcome: 'unknown',
    why: '405 Method Not Allowed',
  })
  expect(readAudit('<html>')).toMatchObject({ outcome: 'unknown' })
})
