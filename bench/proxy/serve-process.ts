/**
 * The child-process side of `bench-process.ts`: reports CPU time and memory to the bench, passes its messages on, and stops
 * when told to. Imports nothing, so that it can be copied into other revisions.
 */

export interface ProcessReply {
  readonly url?: string
  readonly cpuMicroseconds?: number
  readonly memoryBytes?: number
  /** The reply to a `message` request. */
  readonly reply?: string | undefined
}

export interface ProcessRequest {
  readonly kind: 'cpu' | 'memory' | 'message' | 'stop'
  readonly message?: unknown
}

export interface BenchProcessDuties {
  readonly url: string
  readonly onMessage?: (message: unknown) => string | void | Promise<void>
  readonly stop: () => Promise<void>
}

/** Sends the bench this process's URL, then replies to its requests. Call this when the process is listening. */
export function serveBench({ url, onMessage, stop }: BenchProcessDuties): void {
  const send = (reply: ProcessReply) => process.send?.(reply)
  process.on('message', async ({ kind, message }: ProcessRequest) => {
    switch (kind) {
      case 'cpu': {
        const { user, system } = process.cpuUsage()
        send({ cpuMicroseconds: user + system })
        return
      }
      case 'memory':
        globalThis.gc?.()
        send({ memoryBytes: process.memoryUsage.rss() })
        return
      case 'message':
        send({ reply: (await onMessage?.(message)) ?? undefined })
        return
      case 'stop':
        void stop().then(() => process.exit(0))
    }
  })
  // The bench has exited or was killed.
  process.on('disconnect', () => process.exit())
  send({ url })
}
