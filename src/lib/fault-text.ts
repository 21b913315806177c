/** Describes errors for logs. Messages may repeat what a client or a provider sent, so they are left out. */

const CAUSES_MAX = 4
const FRAMES_MAX = 12

/** An error whose message is our own fixed text and may be logged. */
export interface PlainFault {
  readonly mayBeLogged: true
}

/**
 * Describes an error for a log field: its name, code, stack frames and causes. A string is our own text and is returned
 * unchanged; undefined means that there is no error.
 */
export function faultText(fault: unknown): string | undefined {
  if (fault === undefined || typeof fault === 'string') return fault
  const lines: string[] = []
  let cause: unknown = fault
  for (let depth = 0; depth < CAUSES_MAX && cause !== undefined; depth++) {
    lines.push(`${depth === 0 ? '' : 'because of '}${kindOf(cause)}`, ...framesOf(cause))
    cause = cause instanceof Error ? cause.cause : undefined
  }
  return lines.join('\n')
}

function kindOf(fault: unknown): string {
  if (!(fault instanceof Error)) return `thrown value that is not an Error: ${typeof fault}`
  const code = 'code' in fault && /^[\w.-]{1,60}$/.test(String(fault.code)) ? ` ${fault.code}` : ''
  return `${fault.name}${code}${'mayBeLogged' in fault ? `: ${fault.message}` : ''}`
}

/**
 * Returns the stack frames. Lines of the message may look like frames, so it only searches the part of the stack after the
 * message.
 */
function framesOf(fault: unknown): string[] {
  if (!(fault instanceof Error) || typeof fault.stack !== 'string') return []
  const start = fault.stack.indexOf(fault.message)
  if (start < 0) return []
  const lines = fault.stack.slice(start + fault.message.length).split('\n')
  return lines.filter(line => /^ {4}at \S/.test(line)).slice(0, FRAMES_MAX)
}
