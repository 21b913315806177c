/** The workflow for pull requests: the make target that posts the price diff, and which commit it compares with. */

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'catalogue-workflow-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

/** Runs the make target in a project whose generator and `gh` exit with these statuses. */
function post(name: string, { diff, gh }: { diff: number; gh: number }) {
  const project = join(scratch, name)
  const tools = join(project, 'tools')
  mkdirSync(join(project, 'codegen'), { recursive: true })
  mkdirSync(tools)
  cpSync(join(root, 'Makefile'), join(project, 'Makefile'))
  writeFileSync(
    join(project, 'codegen/main.ts'),
    `console.log('the table against', process.argv[3]); process.exitCode = ${diff}`,
  )
  writeFileSync(join(tools, 'gh'), `#!/bin/sh\necho "$@" > posted.txt\ncat .price-diff.md >> posted.txt\nexit ${gh}\n`)
  chmodSync(join(tools, 'gh'), 0o755)
  const env = {
    ...process.env,
    PATH: [tools, join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    GITHUB_STEP_SUMMARY: '',
  }
  const args = ['-s', '-o', 'install', 'price-diff-comment', 'BASE=abc', 'PULL_REQUEST=7']
  const made = spawnSync('make', args, { cwd: project, env, encoding: 'utf8' })
  return { ...made, posted: readFileSync(join(project, 'posted.txt'), 'utf8') }
}

test.each([
  ['both succeed', { diff: 0, gh: 0 }, true],
  ['the difference must not ship', { diff: 1, gh: 0 }, false],
  ['the comment cannot be posted', { diff: 0, gh: 4 }, false],
  ['both fail', { diff: 1, gh: 4 }, false],
])('the price diff is posted, and its target fails if anything failed: %s', (name, statuses, isGood) => {
  const { status, stdout, stderr, posted } = post(name.replaceAll(' ', '-'), statuses)
  expect(posted).toBe('pr comment 7 --edit-last --create-if-none --body-file .price-diff.md\nthe table against abc\n')
  expect(status === 0).toBe(isGood)
  const failed = statuses.diff === 0 ? statuses.gh : statuses.diff
  if (!isGood) expect(stderr).toContain(`Error ${failed}`)
  // A diff that cannot be posted is printed to the job's log.
  expect(stdout).toBe(statuses.gh === 0 ? '' : 'the table against abc\n')
})

test('a pull request is compared with its merge base, even if the base has moved since it was opened', () => {
  const repository = join(scratch, 'repository')
  mkdirSync(repository)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.org', ...args], {
      cwd: repository,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  const commit = (message: string) => {
    git('commit', '-q', '--allow-empty', '-m', message)
    return git('rev-parse', 'HEAD')
  }
  git('init', '-q', '-b', 'main')
  const opened = commit('the base when the request was opened')
  git('branch', 'feature')
  const merged = commit('the work of others')
  git('checkout', '-q', 'feature')
  commit('the change')
  // CI checks out the head of the pull request merged into the current base.
  git('checkout', '-q', '-b', 'merge', 'main')
  git('merge', '-q', '--no-ff', '-m', 'merge', 'feature')
  git('update-ref', 'refs/remotes/origin/main', merged)

  const workflow = parse(readFileSync(join(root, '.github/workflows/catalogue.yml'), 'utf8'))
  const steps: { name?: string; run?: string; env?: Record<string, string> }[] = workflow.jobs['price-diff'].steps
  const find = steps.find(step => step.name === 'Find the base')
  expect(find?.env?.BASE_BRANCH).toContain('github.event.pull_request.base.ref')
  const environment = join(scratch, 'environment')
  writeFileSync(environment, '')
  const env = { ...process.env, BASE_BRANCH: 'main', GITHUB_ENV: environment }
  execFileSync('bash', ['-e', '-c', find?.run ?? ''], { cwd: repository, env })
  expect(readFileSync(environment, 'utf8')).toBe(`BASE=${merged}\n`)
  expect(merged).not.toBe(opened)
  for (const step of steps.filter(({ run }) => run?.startsWith('make'))) expect(step.run).toContain('BASE="$BASE"')
})
