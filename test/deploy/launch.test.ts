/** The gateway runs with the same flags and allocator settings, however it is started. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')
const SCRIPT: string = JSON.parse(read('package.json')).scripts.gateway
const VARIABLES = SCRIPT.slice(0, SCRIPT.indexOf(' node '))
const FLAGS = SCRIPT.match(/--\S+/g) ?? []

test.each([
  ['Makefile', /^\t@(MALLOC.*) exec node (.*) src\/start\.js serve$/m],
  ['deploy/Dockerfile', /^ENV (MALLOC.*)$[\s\S]*^ENTRYPOINT \["node", (.*), "src\/start\.js"\]$/m],
  ['deploy/systemd/gateway.service', /^Environment=(MALLOC.*)$[\s\S]*^ExecStart=\S+\/node (.*) src\/start\.js serve$/m],
])('%s starts it as the script `gateway` does', (path, pattern) => {
  const [, variables, flags = ''] = pattern.exec(read(path)) ?? []
  expect(variables).toBe(VARIABLES)
  expect(flags.match(/--[^"\s]+/g)).toEqual(FLAGS)
  expect(FLAGS).not.toEqual([])
})
