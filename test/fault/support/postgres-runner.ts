/** Runs Postgres for tests: on a given host, as a user other than root, and killed when this process dies. */

import { join } from 'node:path'
import { locateNativeDirectory } from '../../../src/app/embedded/binaries.ts'
import {
  canRun,
  chooseIdentity,
  type Runner,
  runAs,
  runAsSelf,
  runWithReadAccess,
} from '../../../src/app/embedded/identity.ts'
import { type Host, TIE } from './child.ts'

/** Returns a runner for Postgres on a host. `home` is the folder with its data. */
export function runnerOn(host: Host, home: string): Runner {
  return tied(runnerFor(home), host)
}

function runnerFor(home: string): Runner {
  const identity = chooseIdentity(home)
  if (identity === null) return runAsSelf
  const program = { postgres: join(locateNativeDirectory(), 'bin', 'postgres'), folder: home }
  const runners = [runAs(identity), runWithReadAccess(identity, 'setpriv')]
  const found = runners.find(runner => canRun(runner, program))
  if (found === undefined) throw new Error('Postgres does not run as root, and cannot be run as another user here')
  return found
}

/** Makes the runner start Postgres on the host, and have it killed when this process dies, if the system supports that. */
function tied(run: Runner, { enter }: Host): Runner {
  return (file, args) => {
    const plain = run(file, args)
    const [door, ...through] = enter
    if (door !== undefined) {
      const { uid, gid } = plain
      // Only root may enter the host's namespace, so the user changes afterwards. --pdeathsig comes last, because changing the
      // user would clear it.
      const user = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
      return {
        file: door,
        args: [...through, 'setpriv', ...user, '--pdeathsig', 'KILL', '--', plain.file, ...plain.args],
      }
    }
    const [program, ...words] = TIE
    return program === undefined
      ? plain
      : { ...plain, file: program, args: [...words, '--', plain.file, ...plain.args] }
  }
}
