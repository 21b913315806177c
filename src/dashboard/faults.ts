/** What a person sees when a page fails. Details go to the log, never onto the page. */

import { PasswordsBusyError } from '../accounts/passwords.ts'
import { GatewayError } from '../errors.ts'
import { classifyFault } from '../lib/database.ts'
import type { ProblemAnswer } from './page.ts'

export function faultAnswer(error: unknown): ProblemAnswer {
  if (error instanceof PasswordsBusyError) return { kind: 'problem', status: 503, retryAfterSeconds: 5 }
  const status = statusOf(error)
  if (status === 429) return { kind: 'problem', status: 503, retryAfterSeconds: 5 }
  if (status === 413) return { kind: 'problem', status: 413 }
  if (status === 415) return { kind: 'problem', status: 415 }
  if (status >= 400 && status < 500) return { kind: 'problem', status: 400 }
  return { kind: 'problem', status: classifyFault(error) === 'retry' ? 503 : 500 }
}

function statusOf(error: unknown): number {
  if (error instanceof GatewayError) return error.status
  if (error instanceof Error && 'statusCode' in error && typeof error.statusCode === 'number') return error.statusCode
  return 500
}
