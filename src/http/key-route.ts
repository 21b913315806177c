/**
 * `GET /v1/key` reports on the request's key: what it may do, what it has spent, and what it has left. The fields are named as in
 * OpenRouter's route (its API reference, read 2026-11), so that clients written for that route work here; amounts are in VND.
 */

import type { FastifyInstance } from 'fastify'
import type { KeyReport } from '../accounts/key-report.ts'
import { GatewayError } from '../errors.ts'
import type { CatalogueSettings } from '../generated/types.ts'
import { classifyFault } from '../lib/database.ts'
import { formatVnd, type MicroVnd, ZERO_MICRO_VND } from '../lib/money.ts'
import { nextPeriod } from '../lib/period.ts'
import type { Caller } from '../pipeline/call.ts'
import { KEY_ROUTE } from './endpoints.ts'
import type { ServerOptions } from './request.ts'

export function addKeyRoute(server: FastifyInstance, { services, keyReport }: ServerOptions): void {
  const { settings } = services.catalogue
  server.get(KEY_ROUTE.path, { config: { authentication: KEY_ROUTE.authentication } }, async (request, reply) => {
    const report = await keyReport(request.state.caller as Caller).catch((cause: unknown) => {
      if (classifyFault(cause) === 'bug') throw cause
      throw new GatewayError('ledger_unavailable', { cause, retryAfterSeconds: 2 })
    })
    // The key was erased after the look-up.
    if (report === null) throw new GatewayError('authentication_failed')
    reply.header('cache-control', 'no-store').type('application/json; charset=utf-8')
    return reply.send(`{"data":${written(keyData(report, settings, request.state.openedAt))}}`)
  })
}

/** A bigint is an amount in µVND, serialized as a JSON number in VND at full precision. */
type Data = Readonly<Record<string, MicroVnd | string | number | boolean | readonly string[] | null>>

function keyData(report: KeyReport, settings: CatalogueSettings, now: Date): Data {
  const { limitMicroVnd: limit, charged, expiresAt } = report
  const reset = limit === null ? null : report.limitReset
  const left = limit === null ? null : ((limit - charged[reset ?? 'ever']) as MicroVnd)
  const atMost = (own: number | null, otherwise: number) => ((own ?? otherwise) === 0 ? null : (own ?? otherwise))
  return {
    label: `sk-${settings.service}-…${report.last4}`,
    name: report.label,
    limit,
    limit_remaining: left !== null && left < 0n ? ZERO_MICRO_VND : left,
    limit_reset: reset,
    limit_resets_at: reset === null ? null : nextPeriod(reset, now).toISOString(),
    usage: charged.ever,
    usage_daily: charged.daily,
    usage_weekly: charged.weekly,
    usage_monthly: charged.monthly,
    include_byok_in_limit: false,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    is_management_key: false,
    creator_user_id: null,
    disabled: false,
    expires_at: expiresAt?.toISOString() ?? null,
    allowed_models: report.allowedModels,
    rpm: atMost(report.rateLimitPerMinute, settings.rateLimitPerMinute),
    concurrency: atMost(report.concurrencyMax, settings.concurrencyMax),
    balance: formatVnd(report.balanceMicroVnd),
    held: formatVnd(report.heldMicroVnd),
    currency: 'VND',
    time_zone: 'Asia/Ho_Chi_Minh',
  }
}

function written(data: Data): string {
  const members = Object.entries(data).map(([name, value]) => {
    return `${JSON.stringify(name)}:${typeof value === 'bigint' ? formatVnd(value) : JSON.stringify(value)}`
  })
  return `{${members.join(',')}}`
}
