/** One API key: its cost, name and limits, revealing it, revoking it. */

import { isCallsPerMinute } from '../../accounts/key-rate.ts'
import { changeKey, KEY_CAP_VND_MAX } from '../../accounts/key-settings.ts'
import { revokeKey, showKey } from '../../accounts/keys.ts'
import { listOwnKeys, type OwnKey } from '../../accounts/own-keys.ts'
import { confirmPassword, isPasswordFresh } from '../../accounts/sign-in.ts'
import { MICRO_PER_VND } from '../../lib/money.ts'
import { announce } from '../../operations/channel.ts'
import { readAmountVnd } from '../../payments/amount.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { throttledAnswer } from '../people/faults.ts'
import { proofView } from '../people/proof.ts'
import { text } from '../texts/index.ts'
import { count, dong } from '../view/format.ts'
import { keyView } from './key-list.ts'

export const KEY_PAGES: readonly Page[] = [
  { method: 'GET', path: '/keys/:id', authentication: 'session', purpose: 'One key', handle: show },
  { method: 'POST', path: '/keys/:id/settings', authentication: 'session', purpose: 'Name and limits', handle: change },
  { method: 'POST', path: '/keys/:id/show', authentication: 'session', purpose: 'Shows the secret', handle: reveal },
  { method: 'POST', path: '/keys/:id/revoke', authentication: 'session', purpose: 'Ends the key', handle: revoke },
]

const NOTICES = ['saved'] as const

/** Null for malformed and unknown ids, and for other people's keys. */
async function findKey(request: PageRequest): Promise<OwnKey | null> {
  const keyId = idOf(request.params.id)
  if (keyId === null) return null
  const keys = await listOwnKeys(request.options.sql, signedIn(request).accountId)
  return keys.find(key => key.keyId === keyId) ?? null
}

async function show(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  return key === null ? NOT_FOUND : keyPage(request, key)
}

interface Faults {
  readonly cap?: string
  readonly rate?: string
  readonly password?: string
}

function keyPage(request: PageRequest, key: OwnKey, faults: Faults = {}): Answer {
  const { options, language, query, form, now } = request
  const isTypedAgain = faults.cap !== undefined || faults.rate !== undefined
  const done = query.choice('done', NOTICES)
  const view = keyView(request, key)
  const capText = key.limitMicroVnd === null ? '' : dong(key.limitMicroVnd / MICRO_PER_VND).slice(0, -2)
  const rate = key.rateLimitPerMinute ?? options.catalogue.settings.rateLimitPerMinute
  const ownRate = key.rateHeld ? null : key.rateLimitPerMinute
  return {
    kind: 'page',
    template: 'key',
    title: view.label,
    section: 'keys',
    status: Object.keys(faults).length === 0 ? 200 : 422,
    data: {
      key: view,
      name: isTypedAgain ? form.text('label', 100) : key.label,
      capText: isTypedAgain ? form.text('cap') : capText,
      rateText: isTypedAgain ? form.text('rate') : ownRate === null ? '' : count(ownRate),
      rateLimit: rate === 0 ? null : count(rate),
      isRateHeld: key.rateHeld,
      isShowable: key.showable,
      isFresh: isPasswordFresh(options.people, signedIn(request), now),
      proof: proofView(request),
      email: signedIn(request).email,
      faults: { cap: faults.cap ?? null, rate: faults.rate ?? null, password: faults.password ?? null },
      notice: done === null ? null : text(language, `keys.done.${done}`),
    },
  }
}

async function change(request: PageRequest): Promise<Answer> {
  const { options, language, form } = request
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  const { rateLimitPerMinute: rateMax } = options.catalogue.settings
  const cap = readOptional(form.text('cap'), value => value >= 1 && value <= KEY_CAP_VND_MAX)
  const rate = readOptional(form.text('rate'), value => isCallsPerMinute(value) && (rateMax === 0 || value <= rateMax))
  if (cap === undefined) return keyPage(request, key, { cap: text(language, 'keys.cap.fault') })
  if (rate === undefined) return keyPage(request, key, { rate: text(language, 'keys.rate.fault') })
  const { limitReset, expiresAt, allowedModels } = key
  const label = form.text('label', 100)
  const callsInFlight = key.concurrencyHeld ? null : key.concurrencyMax
  const settings = { label, limitVnd: cap, limitReset, expiresAt, allowedModels, callsPerMinute: rate, callsInFlight }
  if (await changeKey(options.sql, key, settings)) await announce(options.sql, 'keys')
  return { kind: 'redirect', to: `/keys/${key.keyId}?done=saved` }
}

/** Null for empty input; undefined for unusable input. */
function readOptional(typed: string, isUsable: (value: number) => boolean): number | null | undefined {
  if (typed === '') return null
  const value = readAmountVnd(typed)
  return value !== null && isUsable(value) ? value : undefined
}

/** A secret is revealed only shortly after the password was typed; otherwise this page asks for it. */
async function reveal(request: PageRequest): Promise<Answer> {
  const { options, language, visitor, form, now } = request
  const session = signedIn(request)
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  if (form.has('password') || !isPasswordFresh(options.people, session, now)) {
    const checked = await confirmPassword(options.people, visitor, session, form.secret('password'))
    if (checked.outcome === 'throttled') return throttledAnswer(checked)
    if (checked.outcome === 'refused') {
      return keyPage(request, key, { password: text(language, 'fault.password.wrong') })
    }
  }
  const revealed = await showKey(options.sql, options.keySecrets, key)
  if (revealed === null || revealed.outcome === 'gone') return keyPage(request, key)
  options.log.info({ accountId: key.accountId, keyId: key.keyId }, 'an API key was revealed to its owner')
  return {
    kind: 'page',
    template: 'key-shown',
    title: text(language, 'keys.shown'),
    section: 'keys',
    secret: true,
    data: { key: revealed.key, keyId: key.keyId },
  }
}

async function revoke(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  await revokeKey(request.options.sql, key)
  return { kind: 'redirect', to: '/keys?done=revoked' }
}
