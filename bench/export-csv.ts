/** Reads an export over HTTP and measures what it costs the gateway. Linux only. */

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SignedIn } from './signed-in.ts'

const SAMPLE_MS = 100

export interface Exported {
  /** Rows of the file, not counting its header. */
  readonly rows: number
  readonly megabytes: number
  readonly seconds: number
  /** Resident memory of the gateway before the export, in MiB; `peak` is the highest value during it. */
  readonly before: number
  readonly peak: number
}

/** Downloads an export and measures it. `pauseMs`: how long a slow reader waits after each chunk. */
export async function exportCsv(signedIn: SignedIn, path: string, pauseMs: number): Promise<Exported> {
  const before = memoryMebibytes(signedIn)
  let peak = before
  const sampling = setInterval(() => {
    peak = Math.max(peak, memoryMebibytes(signedIn))
  }, SAMPLE_MS)
  const started = performance.now()
  const response = await fetch(signedIn.baseUrl + path, { headers: signedIn.headers })
  let bytes = 0
  let rows = -1
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    for (const byte of chunk) if (byte === 10) rows++
    if (pauseMs > 0) await sleep(pauseMs)
  }
  clearInterval(sampling)
  return { rows, megabytes: bytes / 2 ** 20, seconds: (performance.now() - started) / 1_000, before, peak }
}

export function describeExport({ rows, megabytes, seconds, before, peak }: Exported): string {
  return `${rows} rows, ${megabytes.toFixed(0)} MB, ${seconds.toFixed(1)} s, memory ${before} MB before, ${peak} MB at most`
}

/** CPU time that the gateway has used so far, assuming kernel ticks of 10 ms. */
export function cpuMilliseconds({ gatewayProcessId }: SignedIn): number {
  const fields = readFileSync(`/proc/${gatewayProcessId}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function memoryMebibytes({ gatewayProcessId }: SignedIn): number {
  const status = readFileSync(`/proc/${gatewayProcessId}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
}
