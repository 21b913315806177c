/** Mounts the pages on a gateway's server. */

import type { FastifyInstance } from 'fastify'
import type { KeySecrets } from '../accounts/key-secret.ts'
import type { Catalogue } from '../catalogue/catalogue.ts'
import { findDrafts } from '../dashboard/content.ts'
import { addDashboard } from '../dashboard/dashboard.ts'
import { DASHBOARD_LIMITS } from '../dashboard/options.ts'
import { LANGUAGES } from '../dashboard/preferences.ts'
import { describeApi } from '../http/openapi/document.ts'
import type { Sql } from '../lib/database.ts'
import type { Logger } from '../lib/log.ts'
import { createAnnouncementBoard } from '../operations/banner.ts'
import type { Services } from '../pipeline/call.ts'
import { testUpstream } from '../pipeline/test-upstream.ts'
import type { UpstreamRegistry } from '../upstream/registry.ts'
import type { BackOffice } from './back-office.ts'
import type { Config } from './config.ts'

export interface PagesOptions {
  readonly config: Config
  readonly backOffice: BackOffice
  /** A separate pool for the pages, so that a slow page cannot hold up calls. */
  readonly sql: Sql
  readonly keySecrets: KeySecrets
  readonly catalogue: Catalogue
  readonly upstreams: UpstreamRegistry
  readonly services: Services
  readonly log: Logger
}

export async function addPages(server: FastifyInstance, options: PagesOptions): Promise<void> {
  const { config, backOffice, sql, keySecrets, catalogue, upstreams, services, log } = options
  const { production, publicUrl, real } = config
  const { adjustAskVnd, adjustVndMax, playgroundDailyVndMax } = config.limits
  await addDashboard(server, {
    catalogue,
    people: backOffice.people,
    payments: backOffice.payments,
    alerts: backOffice.alerts,
    keySecrets,
    sql,
    upstreams: () => upstreams.status(),
    testUpstream: upstreamId => testUpstream(services, upstreamId),
    taxRates: config.taxRates,
    openApi: describeApi({ catalogue, publicUrl }),
    publicUrl,
    company: config.company,
    contentFolder: config.contentDir,
    announcements: createAnnouncementBoard(sql, Date.now),
    // Anyone who can read emails can take over an account, so the outbox page is off where real money or data is at stake.
    outboxFolder: production || real ? null : backOffice.outboxDir,
    production,
    log,
    onFailed: status => services.observer.pageFailed(status),
    now: () => new Date(),
    limits: { ...DASHBOARD_LIMITS, adjustAskVnd, adjustVndMax, playgroundDailyVndMax },
  })
  if (production) server.addHook('onListen', () => nameDrafts(config, log))
}

/** Warns about pages required by law that still show unapproved drafts. */
async function nameDrafts({ contentDir }: Config, log: Logger): Promise<void> {
  try {
    const drafts = await findDrafts(contentDir, LANGUAGES)
    if (drafts.length > 0)
      log.warn({ drafts }, 'these pages still show drafts; write your own texts and set CONTENT_DIR')
  } catch (cause) {
    log.warn({ cause }, 'cannot read the texts in CONTENT_DIR; check the folder and its permissions')
  }
}
