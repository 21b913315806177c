/** State of the service at a glance, the maintenance switch, the audit. */

import { recordAction } from '../../accounts/operator-log.ts'
import { audit } from '../../audit/audit.ts'
import { readMaintenance, setMaintenance } from '../../operations/maintenance.ts'
import { countUnmatched } from '../../payments/unmatched.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { actorOf, operatorPage } from './frame.ts'

export const HOME_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/operator',
    authentication: 'operator',
    needs: 'read',
    purpose: 'State of the service',
    handle: home,
  },
  {
    method: 'POST',
    path: '/operator/maintenance',
    authentication: 'operator',
    needs: 'operations',
    purpose: 'Turns it on or off',
    handle: maintain,
  },
  {
    method: 'POST',
    path: '/operator/audit',
    authentication: 'operator',
    needs: 'read',
    purpose: 'Recomputes the ledger',
    handle: runAudit,
  },
]

const AUDIT_TIMEOUT_MS = 300_000

async function home(request: PageRequest): Promise<Answer> {
  const { options, language } = request
  const [unmatched, maintenance] = await Promise.all([countUnmatched(options.payments), readMaintenance(options.sql)])
  return operatorPage(request, 'operator-home', 'home', {
    unmatched,
    maintenance,
    entries: options.catalogue.items.length,
    digest: options.catalogue.settings.digest,
    upstreams: options.upstreams().map(upstream => ({
      ...upstream,
      stateText: text(language, `operator.upstream.state.${upstream.state}`, { seconds: upstream.waitSeconds }),
      tone: upstream.state === 'well' ? 'good' : upstream.state === 'aside' ? 'bad' : 'warn',
    })),
  })
}

async function maintain(request: PageRequest): Promise<Answer> {
  const { options, form } = request
  const enabled = form.choice('state', ['on', 'off']) === 'on'
  await setMaintenance(options.sql, { enabled, retryAfterSeconds: null })
  const action = enabled ? 'maintenance.on' : 'maintenance.off'
  await recordAction(options.sql, { by: actorOf(request), action })
  return { kind: 'redirect', to: '/operator' }
}

async function runAudit(request: PageRequest): Promise<Answer> {
  const report = await audit(request.options.sql, { timeoutMs: AUDIT_TIMEOUT_MS })
  const { transfers, orders } = report.payments
  return operatorPage(request, 'operator-audit', 'home', {
    report,
    rules: Object.entries(report.differences).map(([rule, found]) => ({ rule, found })),
    transfers: transfers.join(', '),
    orders: orders.join(', '),
  })
}
