/** Lists a provider's models, page by page and within limits. Only their ids and dates are kept. */

import { Canceller } from '../lib/cancellation.ts'
import { isObject, parseJson } from '../lib/json.ts'
import { credentialHeaders } from './build.ts'
import type { Credential } from './credentials.ts'
import { decoded } from './decode.ts'
import { UpstreamFault } from './fault.ts'
import type { ReachableUpstream } from './registry.ts'
import { send } from './send.ts'

export interface ListedModel {
  readonly id: string
  /** ISO date on which the provider retires the model; null: not announced. */
  readonly shutdownOn: string | null
}

export interface ListLimits {
  /** Time limit for all pages together. */
  readonly timeoutMs: number
  readonly pageBytesMax: number
  readonly pagesMax: number
}

/** Says why the list could not be read. The text contains no address, no credential and nothing that the provider wrote. */
export class ModelListError extends Error {}

/** Lists the models of an upstream, which must have a configured `paths.models`. Rejects with ModelListError. */
export async function listModels(
  upstream: ReachableUpstream,
  credential: Credential,
  limits: ListLimits,
): Promise<readonly ListedModel[]> {
  const endMs = performance.now() + limits.timeoutMs
  const models = new Map<string, ListedModel>()
  let query = ''
  for (let page = 0; page < limits.pagesMax; page++) {
    const json = await readPage(upstream, credential, { ...limits, query, timeoutMs: endMs - performance.now() })
    const before = models.size
    for (const model of modelsOf(json)) models.set(model.id, model)
    if (json.has_more !== true) return [...models.values()]
    if (typeof json.last_id !== 'string')
      throw new ModelListError('its list has more pages but gives no last_id to continue from')
    if (models.size === before)
      throw new ModelListError('its list has more pages, but the last one read had nothing new')
    query = `after_id=${encodeURIComponent(json.last_id)}`
  }
  throw new ModelListError(`its list has more than ${limits.pagesMax} pages`)
}

interface PageOptions {
  readonly query: string
  readonly timeoutMs: number
  readonly pageBytesMax: number
}

async function readPage(
  upstream: ReachableUpstream,
  credential: Credential,
  { query, timeoutMs, pageBytesMax }: PageOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const waitMs = Math.max(1, Math.ceil(timeoutMs))
  const { facts, basePath } = upstream
  const path = `${basePath}${facts.paths.models}`
  let status: number
  let body: Buffer
  try {
    const reply = decoded(
      await send({
        connections: upstream.connections,
        method: 'GET',
        path: query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`,
        headers: {
          accept: 'application/json',
          'accept-encoding': 'identity',
          ...facts.headers,
          ...credentialHeaders(facts, credential),
        },
        body: Buffer.alloc(0),
        secrets: upstream.credentials.secrets,
        firstByteTimeoutMs: waitMs,
        idleTimeoutMs: waitMs,
        totalTimeoutMs: waitMs,
        signal: new Canceller(),
        onClose: () => {},
      }),
      performance.now() + waitMs,
    )
    status = reply.status
    body = await reply.readBody(pageBytesMax)
  } catch (error) {
    const fault = UpstreamFault.from(error)
    throw new ModelListError(FAULTS[fault.kind] ?? `${fault.kind}: ${fault.message}`)
  }
  if (status === 401 || status === 403) throw new ModelListError(`HTTP ${status}: it rejected the credential`)
  if (status !== 200) throw new ModelListError(`HTTP ${status}`)
  const json = parseJson(body.toString('utf8'))
  if (!isObject(json) || !Array.isArray(json.data)) throw new ModelListError('its answer is not a list of models')
  return json
}

const FAULTS: Readonly<Record<string, string>> = {
  timeout: 'no complete answer in time',
  oversized: 'its answer is too large',
}

/** Longest id to list, in characters. */
const ID_MAX = 256
/** A prefix that some providers put before every model id. */
const COLLECTION = /^models\//
const ISO_DATE = /^20\d{2}-\d{2}-\d{2}(?=$|T)/

function modelsOf(json: Readonly<Record<string, unknown>>): ListedModel[] {
  return (json.data as readonly unknown[]).flatMap(item => {
    if (!isObject(item) || typeof item.id !== 'string' || item.id.length > ID_MAX) return []
    return [{ id: item.id.replace(COLLECTION, ''), shutdownOn: dayOf(item.shutdown_date) }]
  })
}

/** The ISO date at the start of a text; null when there is no valid one. */
function dayOf(value: unknown): string | null {
  const day = typeof value === 'string' ? ISO_DATE.exec(value)?.[0] : undefined
  const time = Date.parse(`${day}T00:00:00Z`)
  return day !== undefined && !Number.isNaN(time) && new Date(time).toISOString().startsWith(day) ? day : null
}
