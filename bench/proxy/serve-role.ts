/**
 * The child-process side of `role.ts`: reports CPU time and memory to the bench, passes its messages on, and stops when told
 * to. Imports nothing, so that it can be copied into other revisions.
 */

export interface Answer {
  readonly url?: string
  readonly cpuMicroseconds?: number
  readonly memoryBytes?: number
  /** The reply to a `tell` request. */
  readonly said?: string | undefined
}

export type Question = { readonly ask: 'cpu' | 'memory' | 'tell' | 'stop'; readonly message?: unknown }

export interface RoleDuties {
  readonly url: string
  readonly told?: (message: unknown) => string | void | Promise<void>
  readonly stop: () => Promise<void>
}

/** Sends the bench the role's URL, then replies to its requests. Call this when the role is listening. */
export function serveRole({ url, told, stop }: RoleDuties): void {
  const answer = (answer: Answer) => process.send?.(answer)
  process.on('message', async ({ ask, message }: Question) => {
    switch (ask) {
      case 'cpu': {
        const { user, system } = process.cpuUsage()
        answer({ cpuMicroseconds: user + system })
        return
      }
      case 'memory':
        globalThis.gc?.()
        answer({ memoryBytes: process.memoryUsage.rss() })
        return
      case 'tell':
        answer({ said: (await told?.(message)) ?? undefined })
        return
      case 'stop':
        void stop().then(() => process.exit(0))
    }
  })
  // The bench has exited or was killed.
  process.on('disconnect', () => process.exit())
  answer({ url })
}
