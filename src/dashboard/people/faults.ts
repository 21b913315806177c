/** Messages for rejected input, the same on every form. */

import type { Invalid, PasswordFault, PeopleServices, Throttled } from '../../accounts/types.ts'
import type { PageRequest, ProblemAnswer } from '../page.ts'
import { text } from '../texts/index.ts'

export function throttledAnswer({ retryAfterSeconds }: Throttled): ProblemAnswer {
  return { kind: 'problem', status: 429, retryAfterSeconds }
}

export function passwordFaultText({ options, language }: PageRequest, fault: PasswordFault): string {
  return text(language, `fault.password.${fault}`, passwordBounds(options.people))
}

export function passwordBounds({ limits }: PeopleServices): { min: number; max: number } {
  return { min: limits.passwordCharactersMin, max: limits.passwordBytesMax }
}

/** The messages below the fields of a form; null where nothing is wrong. */
export function faultsOf(request: PageRequest, invalid: Invalid): { email: string | null; password: string | null } {
  return {
    email: invalid.email === undefined ? null : text(request.language, `fault.email.${invalid.email}`),
    password: invalid.password === undefined ? null : passwordFaultText(request, invalid.password),
  }
}
