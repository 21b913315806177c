/** One API key: its state, cost and settings; pausing, rotating, revealing and revoking it. */

import { changeKey, pauseKey } from '../../accounts/key-settings.ts'
import { revokeKey, showKey } from '../../accounts/keys.ts'
import { type OwnKey, readOwnKey } from '../../accounts/own-keys.ts'
import { endReplacedSecret, replaceSecret } from '../../accounts/replace-secret.ts'
import { confirmPassword, isPasswordFresh } from '../../accounts/sign-in.ts'
import { announce } from '../../operations/channel.ts'
import { type Answer, idOf, NOT_FOUND, type Page, type PageRequest, signedIn } from '../page.ts'
import { throttledAnswer } from '../people/faults.ts'
import { proofView } from '../people/proof.ts'
import { text } from '../texts/index.ts'
import { isOutdated, readSettings, type SettingsFaults, settingsView } from './key-form.ts'
import { createdView, keyView } from './key-list.ts'

export const KEY_PAGES: readonly Page[] = [
  { method: 'GET', path: '/keys/:id', authentication: 'session', purpose: 'One key', handle: show },
  { method: 'POST', path: '/keys/:id/settings', authentication: 'session', purpose: 'Name and limits', handle: change },
  { method: 'POST', path: '/keys/:id/pause', authentication: 'session', purpose: 'Pauses the key', handle: pause },
  {
    method: 'POST',
    path: '/keys/:id/resume',
    authentication: 'session',
    purpose: 'Switches it on again',
    handle: resume,
  },
  { method: 'POST', path: '/keys/:id/rotate', authentication: 'session', purpose: 'A new secret', handle: rotate },
  {
    method: 'POST',
    path: '/keys/:id/end-old',
    authentication: 'session',
    purpose: 'Ends the old secret',
    handle: endOld,
  },
  { method: 'POST', path: '/keys/:id/show', authentication: 'session', purpose: 'Shows the secret', handle: reveal },
  { method: 'POST', path: '/keys/:id/revoke', authentication: 'session', purpose: 'Ends the key', handle: revoke },
]

const NOTICES = ['saved', 'paused', 'resumed', 'old_ended', 'changed'] as const
/** Choices, in hours, for how long the old secret keeps working after a rotation. */
const OVERLAPS = [0, 1, 24] as const
const OVERLAP_SUGGESTED = 1

/** Null for malformed and unknown ids, and for other people's keys. */
async function findKey(request: PageRequest): Promise<OwnKey | null> {
  const keyId = idOf(request.params.id)
  return keyId === null ? null : readOwnKey(request.options.sql, { accountId: signedIn(request).accountId, keyId })
}

async function show(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  return key === null ? NOT_FOUND : keyPage(request, key)
}

interface Faults {
  readonly settings?: SettingsFaults
  /** True if the form was shown before the settings were changed elsewhere. */
  readonly isOutdated?: boolean
  readonly password?: string
}

function keyPage(request: PageRequest, key: OwnKey, faults: Faults = {}): Answer {
  const { options, language, query, now } = request
  const done = query.choice('done', NOTICES)
  const view = keyView(request, key)
  return {
    kind: 'page',
    template: 'key',
    title: view.label,
    section: 'keys',
    status: Object.keys(faults).length === 0 ? 200 : 422,
    data: {
      key: view,
      settings: settingsView(request, key, { faults: faults.settings, isTyped: faults.settings !== undefined }),
      outdated: faults.isOutdated === true ? text(language, 'keys.outdated', { path: `/keys/${key.keyId}` }) : null,
      rotations: key.rotations,
      oldUntil: key.replacedUntil,
      overlaps: OVERLAPS.map(hours => ({
        hours,
        label: text(language, `keys.overlap.${hours}`),
        isChosen: hours === OVERLAP_SUGGESTED,
      })),
      isShowable: key.showable,
      isFresh: isPasswordFresh(options.people, signedIn(request), now),
      proof: proofView(request),
      email: signedIn(request).email,
      passwordFault: faults.password ?? null,
      notice: done === null ? null : text(language, `keys.done.${done}`),
    },
  }
}

async function change(request: PageRequest): Promise<Answer> {
  const { options } = request
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  const read = readSettings(request, key)
  if ('faults' in read) return keyPage(request, key, { settings: read.faults })
  if (isOutdated(request, key, read.settings)) return keyPage(request, key, { settings: {}, isOutdated: true })
  if (await changeKey(options.sql, key, read.settings)) await announce(options.sql, 'keys')
  return done(key, 'saved')
}

function done({ keyId }: OwnKey, notice: (typeof NOTICES)[number]): Answer {
  return { kind: 'redirect', to: `/keys/${keyId}?done=${notice}` }
}

async function pause(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  await pauseKey(request.options.sql, key, true)
  return done(key, 'paused')
}

async function resume(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  await pauseKey(request.options.sql, key, false)
  return done(key, 'resumed')
}

/**
 * Replaces the key's secret. Submitting the same form again does not replace it again: the form's `rotations` is the number of
 * earlier replacements when the page was shown.
 */
async function rotate(request: PageRequest): Promise<Answer> {
  const { options, language, form } = request
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  const overlapHours = OVERLAPS.find(hours => String(hours) === form.text('overlap', 4)) ?? OVERLAP_SUGGESTED
  const seen = /^\d{1,9}$/.exec(form.text('rotations', 9))
  if (seen === null) return done(key, 'changed')
  const rotations = Number(seen[0])
  const replaced = await replaceSecret(options.sql, options.keySecrets, { ...key, rotations, overlapHours })
  if (replaced.outcome === 'gone') return keyPage(request, key)
  if (replaced.outcome === 'changed') return done(key, 'changed')
  options.log.info({ accountId: key.accountId, keyId: key.keyId }, 'the secret of an API key was replaced by its owner')
  return {
    kind: 'page',
    template: 'key-created',
    title: text(language, 'keys.rotated'),
    section: 'keys',
    secret: true,
    data: {
      ...createdView(request, { key: replaced.key, allowedModels: key.allowedModels }),
      isRotated: true,
      oldUntil: replaced.oldUntil,
    },
  }
}

async function endOld(request: PageRequest): Promise<Answer> {
  const key = await findKey(request)
  if (key === null) return NOT_FOUND
  await endReplacedSecret(request.options.sql, key)
  return done(key, 'old_ended')
}

/** A secret is revealed only shortly after the password was typed; otherwise this page asks for it first. */
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
