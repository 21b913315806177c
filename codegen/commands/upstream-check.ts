/** `upstream-check`: asks providers whether they still have the models in use, and when they shut them down. */

import { ConfigError } from '../../src/app/reader.ts'
import { ownCompiler } from '../compile.ts'
import { formatFindings, isError, UsageError } from '../findings.ts'
import type { Output } from '../output.ts'
import { type Project, readProject, todayOf } from '../project.ts'
import { didYouMean } from '../spelling.ts'
import { askUpstreams } from '../upstream-check/ask.ts'
import { judgeUpstream } from '../upstream-check/judge.ts'
import { type Judged, renderJudged } from '../upstream-check/text.ts'
import { parseOptions } from './options.ts'

const TIMEOUT_SECONDS = 30
const TIMEOUT_SECONDS_MAX = 600
const LIMITS = { pageBytesMax: 8 * 1024 * 1024, pagesMax: 100 } as const

/** Returns the exit status: 1 if a model needs attention, a provider did not answer, or no provider was asked. */
export async function upstreamCheck(project: Project, args: readonly string[], output: Output): Promise<number> {
  const options = { upstream: { type: 'string' }, timeout: { type: 'string' }, json: { type: 'boolean' } } as const
  const { values } = parseOptions(args, options)
  const timeout = values.timeout ?? String(TIMEOUT_SECONDS)
  if (!/^[1-9]\d{0,2}$/.test(timeout) || Number(timeout) > TIMEOUT_SECONDS_MAX)
    throw new UsageError(`--timeout must be a whole number of seconds from 1 to ${TIMEOUT_SECONDS_MAX}`)
  const { tables, findings } = ownCompiler().compile(await readProject(project))
  if (tables === null) {
    output.err(formatFindings(findings.filter(isError), 'text'))
    return 1
  }
  const ids = tables.upstreams.map(({ id }) => id)
  const { upstream } = values
  if (upstream !== undefined && !ids.includes(upstream))
    throw new UsageError(`--upstream ${upstream}: there is no such upstream; ${didYouMean(upstream, ids)}`)
  const answers = await askUpstreams({
    tables,
    upstreams: tables.upstreams.filter(({ id }) => upstream === undefined || id === upstream),
    environment: project.environment ?? process.env,
    limits: { timeoutMs: Number(timeout) * 1000, ...LIMITS },
  }).catch((error: unknown) => {
    throw error instanceof ConfigError ? new UsageError(error.message) : error
  })
  const today = todayOf(project)
  const judged = answers.map((answer): Judged => {
    if (answer.outcome !== 'asked') return answer
    const { id, outcome, credential, models } = answer
    return { id, outcome, credential, listed: models.length, models: judgeUpstream(tables, id, models, today) }
  })
  if (values.json === true) output.out(JSON.stringify({ upstreams: judged }, null, 2))
  else output.out(renderJudged(judged))
  const isAsked = judged.some(({ outcome }) => outcome !== 'not_asked')
  if (!isAsked) output.err('No provider was asked.')
  return isAsked && judged.every(isInOrder) ? 0 : 1
}

function isInOrder(judged: Judged): boolean {
  if (judged.outcome === 'not_asked') return true
  return judged.outcome === 'asked' && judged.models.every(({ finding }) => finding === null)
}
