/** Authenticates playground calls: finds the account by the session, and accepts requests from the gateway's own pages only. */

import type { FastifyRequest } from 'fastify'
import type { KeySecrets } from '../../accounts/key-secret.ts'
import { playgroundKey } from '../../accounts/playground-key.ts'
import { awaitsFactor } from '../../accounts/second-factor.ts'
import type { PeopleServices } from '../../accounts/types.ts'
import { GatewayError } from '../../errors.ts'
import { classifyFault } from '../../lib/database.ts'
import type { Caller } from '../../pipeline/call.ts'
import { comesFromUs, cookieIn, cookiePolicy, sessionOf } from '../guard.ts'

export interface PlaygroundCallerOptions {
  readonly people: PeopleServices
  readonly keySecrets: Pick<KeySecrets, 'peppers'>
  readonly publicUrl: string
  readonly production: boolean
  /** Most that an account may spend in the playground per day in Vietnam, in whole dong. */
  readonly dailyVndMax: number
}

/** The returned function rejects with GatewayError `foreign_page`, `authentication_failed` or `ledger_unavailable`. */
export function playgroundCaller(options: PlaygroundCallerOptions): (request: FastifyRequest) => Promise<Caller> {
  const cookie = cookiePolicy(options)
  return async request => {
    if (!comesFromUs(request, options)) throw new GatewayError('foreign_page')
    try {
      return await callerOf(options, cookieIn(request.headers.cookie, cookie.name))
    } catch (error) {
      throw classifyFault(error) === 'retry' ? new GatewayError('ledger_unavailable', { cause: error }) : error
    }
  }
}

async function callerOf(options: PlaygroundCallerOptions, token: string | undefined): Promise<Caller> {
  const { people, keySecrets, dailyVndMax } = options
  const session = await sessionOf(people, token)
  if (session === null || awaitsFactor(session)) throw refused('You are signed out; sign in again.')
  const { accountId } = session
  const key = await playgroundKey(people.sql, keySecrets, { accountId, dailyVndMax })
  if (key?.state !== 'active') throw refused('The playground is closed for this account.')
  const { state: _state, ...caller } = key
  return { ...caller, keyHashes: [key.keyHash] }
}

function refused(message: string): GatewayError {
  return new GatewayError('authentication_failed', { message })
}
