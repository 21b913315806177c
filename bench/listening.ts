/** Reads the address of a gateway process from its log. */

import type { ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Resolves with the gateway's address when its log says that it is ready; drops later lines. */
export async function listening({ stderr }: ChildProcess): Promise<string> {
  if (stderr === null) throw new Error('the gateway has no log')
  let last = ''
  for await (const line of createInterface(stderr)) {
    last = line
    const url = line.startsWith('{') ? JSON.parse(line).url : undefined
    if (typeof url === 'string') {
      stderr.resume()
      return url
    }
  }
  throw new Error(`the gateway did not start: ${last}`)
}
