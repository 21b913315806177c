/** API keys: the list, and creating one. */

import { ACTIVE_KEYS_MAX } from '../../accounts/keys.ts'
import { CREATED_PER_DAY_MAX, createOwnKey, LISTED_MAX, listOwnKeys, type OwnKey } from '../../accounts/own-keys.ts'
import { readCredits } from '../../ledger/reports/journal.ts'
import { isUuid, uuidv7 } from '../../lib/ids.ts'
import { type Answer, type Page, type PageRequest, signedIn } from '../page.ts'
import { toolGroups } from '../public/tools/index.ts'
import { text } from '../texts/index.ts'
import { readSettings, type SettingsFaults, settingsView, UNLIMITED } from './key-form.ts'

export const KEY_LIST_PAGES: readonly Page[] = [
  {
    method: 'GET',
    path: '/keys',
    authentication: 'session',
    purpose: 'API keys',
    handle: request => list(request),
  },
  { method: 'POST', path: '/keys', authentication: 'session', purpose: 'Makes a key and shows it', handle: create },
]

const NOTICES = ['revoked'] as const

export function keyView({ language }: Pick<PageRequest, 'language'>, key: OwnKey) {
  return {
    keyId: key.keyId,
    label: key.label === '' ? text(language, 'keys.unnamed') : key.label,
    last4: key.last4,
    isActive: key.revokedAt === null,
    state: stateOf(key),
    isPaused: key.disabledAt !== null,
    /** The key's last valid day, in Vietnam time; null if it never expires. */
    lastDay: key.expiresAt === null ? null : new Date(key.expiresAt.getTime() - 1),
    /** Number of models and families that the key is restricted to; 0 if it may call all. */
    models: key.allowedModels?.length ?? 0,
    createdAt: key.createdAt,
    revokedAt: key.revokedAt,
    today: key.costTodayMicroVnd,
    days30: key.cost30DaysMicroVnd,
    total: key.costTotalMicroVnd,
    lastUsedOn: key.lastUsedDay === null ? null : new Date(`${key.lastUsedDay}T12:00:00+07:00`),
    cap: key.limitMicroVnd,
    capKey: `keys.limit.spent.${key.limitReset ?? 'never'}`,
    spent: key.spentMicroVnd,
    /** Percentage of the spending limit that is used up. */
    spentPercent:
      key.limitMicroVnd === null ? 0 : Math.min(100, Number((key.spentMicroVnd * 100n) / key.limitMicroVnd)),
  }
}

/** The key's effective state: an active key that has reached its spending limit is `spent`. */
function stateOf({ state, limitMicroVnd, spentMicroVnd }: OwnKey) {
  const isSpent = state === 'active' && limitMicroVnd !== null && spentMicroVnd >= limitMicroVnd
  const word = isSpent ? 'spent' : state
  const tone = { active: 'good', revoked: '', disabled: 'warn', expired: 'warn', blocked: 'bad', spent: 'bad' }[word]
  return { key: `keys.state.${word}`, tone }
}

interface Refused {
  /** Why no key was created; shown next to the button. */
  readonly fault?: string
  readonly settings?: SettingsFaults
}

/** Renders the list. After a refused submission, the form keeps what the customer entered. */
async function list(request: PageRequest, refused: Refused | null = null): Promise<Answer> {
  const { options, language, query } = request
  const { accountId } = signedIn(request)
  const [keys, credits] = await Promise.all([
    listOwnKeys(options.sql, accountId),
    readCredits(options.sql, { accountId, limit: 1 }),
  ])
  const active = keys.filter(key => key.revokedAt === null)
  const done = query.choice('done', NOTICES)
  return {
    kind: 'page',
    template: 'keys',
    title: text(language, 'keys.title'),
    section: 'keys',
    status: refused === null ? 200 : 422,
    data: {
      active: active.map(key => keyView(request, key)),
      revoked: keys.filter(key => key.revokedAt !== null).map(key => keyView(request, key)),
      isCut: keys.length === LISTED_MAX,
      max: ACTIVE_KEYS_MAX,
      isFull: active.length >= ACTIVE_KEYS_MAX,
      hasMoneyCome: credits.length > 0 || keys.length > 0,
      settings: settingsView(request, UNLIMITED, { faults: refused?.settings, isTyped: refused !== null }),
      isOpen: refused?.settings !== undefined,
      // Submitted with the form, so that a second click does not create a second key.
      submission: uuidv7(),
      notice: done === null ? null : text(language, `keys.done.${done}`),
      fault: refused?.fault ?? null,
    },
  }
}

/** The data of the page that shows a new secret, with snippets that name models which its key may call. */
export function createdView(
  request: PageRequest,
  { key, allowedModels }: { readonly key: string; readonly allowedModels: readonly string[] | null },
) {
  return {
    key,
    allowed: allowedModels?.join(', ') ?? null,
    groups: toolGroups(request, { key, allowedModels }),
  }
}

async function create(request: PageRequest): Promise<Answer> {
  const { options, language, form } = request
  const { accountId } = signedIn(request)
  const given = form.text('submission')
  const submission = isUuid(given) ? given : null
  const read = readSettings(request, UNLIMITED)
  if ('faults' in read) return list(request, { settings: read.faults })
  const { label, ...limits } = read.settings
  const result = await createOwnKey(options.sql, options.keySecrets, { accountId, label, limits, submission })
  if (result.outcome !== 'created') {
    const max = result.outcome === 'too_many' ? CREATED_PER_DAY_MAX : ACTIVE_KEYS_MAX
    return list(request, { fault: text(language, `keys.fault.${result.outcome}`, { max }) })
  }
  return {
    kind: 'page',
    template: 'key-created',
    title: text(language, 'keys.created'),
    section: 'keys',
    secret: true,
    data: createdView(request, { key: result.key, allowedModels: limits.allowedModels }),
  }
}
