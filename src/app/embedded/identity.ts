/**
 * Postgres refuses to run as root. When this process is root, this file picks another user and a way to run programs as that
 * user, even if the project lies below a folder that the user cannot enter (such as /root).
 */

import { spawnSync } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'

export interface Identity {
  readonly uid: number
  readonly gid: number
}

export interface Invocation {
  readonly file: string
  readonly args: readonly string[]
  readonly uid?: number
  readonly gid?: number
}

/** Turns a program and its arguments into arguments for spawn. */
export type Runner = (file: string, args: readonly string[]) => Invocation

/** Picks the user to run Postgres as. Null if this process is not root, because Postgres can then run as the current user. */
export function chooseIdentity(dataDirectory: string): Identity | null {
  if (process.getuid?.() !== 0) return null
  const owner = statSync(dataDirectory, { throwIfNoEntry: false })
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  const users = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const [, , uid, gid] = users.find(line => line.startsWith(`${name}:`))?.split(':') ?? []
    if (uid !== undefined && gid !== undefined && Number(uid) !== 0) return { uid: Number(uid), gid: Number(gid) }
  }
  return { uid: 65_534, gid: 65_534 }
}

export const runAsSelf: Runner = (file, args) => ({ file, args })

/** Simple runner: changes the user before the program starts. Works when that user can enter every parent folder. */
export function runAs(identity: Identity): Runner {
  return (file, args) => ({ file, args, ...identity })
}

/**
 * Runner that changes the user but keeps the capability to read and enter any folder. It also sets the no_setuid_fixup bit:
 * without it, `access(2)`, with which Postgres checks its own program, would ignore the capability.
 */
export function runWithReadAccess(identity: Identity, setpriv: string): Runner {
  return (file, args) => ({
    file: setpriv,
    args: [
      `--reuid=${identity.uid}`,
      `--regid=${identity.gid}`,
      '--clear-groups',
      '--securebits=+no_setuid_fixup',
      '--inh-caps=-all,+dac_read_search',
      '--ambient-caps=-all,+dac_read_search',
      '--',
      file,
      ...args,
    ],
  })
}

/** True when `runner` can start the server and enter its data folder. */
export function canRun(runner: Runner, { postgres, folder }: { postgres: string; folder: string }): boolean {
  return succeeds(runner(postgres, ['--version'])) && succeeds(runner('/bin/sh', ['-c', 'cd "$0"', folder]))
}

function succeeds({ file, args, ...identity }: Invocation): boolean {
  const result = spawnSync(file, args, { ...identity, cwd: '/', timeout: 10_000, encoding: 'utf8', env: {} })
  return result.status === 0 && result.stderr === ''
}
