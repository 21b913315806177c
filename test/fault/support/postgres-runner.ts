/** How Postgres is run for a test: as another user than root, on its host, and not longer than this process. */

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

/** `home` has its data. */
export function runnerOn(host: Host, home: string): Runner {
  return tied(runnerFor(home), host)
}

function runnerFor(home: string): Runner {
  const identity = chooseIdentity(home)
  if (identity === null) return runAsSelf
  const program = { postgres: join(locateNativeDirectory(), 'bin', 'postgres'), folder: home }
  const runners = [runAs(identity), runWithReadAccess(identity, 'setpriv')]
  const found = runners.find(runner => canRun(runner, program))
  if (found === undefined) throw new Error('Postgres cannot be run here as another user than root')
  return found
}

/** The server dies with this process, where the system supports that. */
function tied(run: Runner, { enter }: Host): Runner {
  return (file, args) => {
    const plain = run(file, args)
    const [door, ...through] = enter
    if (door !== undefined) {
      const { uid, gid } = plain
      // Only root may enter, so the user changes afterwards; and the tie comes last, because that change would undo it.
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
