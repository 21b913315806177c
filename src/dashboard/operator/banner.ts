/** The banner that everybody sees on every page until a set time. */

import { recordAction } from '../../accounts/operator-log.ts'
import {
  BANNER_CHARACTERS_MAX,
  type Banner,
  clearBanner,
  readAnnouncements,
  setBanner,
} from '../../operations/banner.ts'
import type { Answer, Page, PageRequest } from '../page.ts'
import { text } from '../texts/index.ts'
import { actorOf, operatorPage } from './frame.ts'

const BANNER = { path: '/operator/banner', authentication: 'operator', needs: 'operations' } as const

export const BANNER_PAGES: readonly Page[] = [
  { method: 'GET', ...BANNER, purpose: 'The line that everybody sees', handle: show },
  { method: 'POST', ...BANNER, purpose: 'Sets it or takes it away', handle: change },
]

const DAYS_MAX = 90
const DAY_MS = 86_400_000
const LOCAL_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/

async function show(request: PageRequest): Promise<Answer> {
  const { banner } = await readAnnouncements(request.options.sql)
  const until = banner === null ? '' : localTime(banner.until)
  return bannerPage(request, { vi: banner?.vi ?? '', en: banner?.en ?? '', until }, banner !== null, {})
}

type Faults = { readonly [Field in 'vi' | 'en' | 'until']?: string | undefined }

function bannerPage(
  request: PageRequest,
  typed: { readonly vi: string; readonly en: string; readonly until: string },
  isShown: boolean,
  faults: Faults,
): Answer {
  const data = {
    typed,
    isShown,
    max: BANNER_CHARACTERS_MAX,
    faults: { vi: faults.vi ?? null, en: faults.en ?? null, until: faults.until ?? null },
  }
  const isRefused = Object.values(faults).some(fault => fault !== undefined)
  return operatorPage(request, 'operator-banner', 'banner', data, isRefused ? 422 : 200)
}

/** Formats a time for a `datetime-local` input, in Vietnam's time zone. */
function localTime(time: Date): string {
  return new Date(time.getTime() + 7 * 3_600_000).toISOString().slice(0, 16)
}

function readTime(typed: string): Date | null {
  const time = LOCAL_TIME.test(typed) ? new Date(`${typed}:00+07:00`) : null
  return time === null || Number.isNaN(time.getTime()) ? null : time
}

async function change(request: PageRequest): Promise<Answer> {
  const { options, form, language, now } = request
  const by = actorOf(request)
  if (form.choice('do', ['clear']) !== null) {
    await options.sql.begin(async transaction => {
      if (await clearBanner(transaction)) await recordAction(transaction, { by, action: 'banner.clear' })
    })
    options.announcements.forget()
    return { kind: 'redirect', to: '/operator/banner' }
  }
  const line = (name: string) => form.lines(name, BANNER_CHARACTERS_MAX).replaceAll('\n', ' ')
  const typed = {
    vi: line('vi'),
    en: line('en'),
    until: form.text('until', 20),
  }
  const until = readTime(typed.until)
  const isLater = until !== null && until > now && until.getTime() < now.getTime() + DAYS_MAX * DAY_MS
  const missing = text(language, 'banner.fault.text')
  if (typed.vi === '' || typed.en === '' || !isLater) {
    const { banner } = await readAnnouncements(options.sql)
    return bannerPage(request, typed, banner !== null, {
      vi: typed.vi === '' ? missing : undefined,
      en: typed.en === '' ? missing : undefined,
      until: isLater ? undefined : text(language, 'banner.fault.until', { days: DAYS_MAX }),
    })
  }
  const banner: Banner = { vi: typed.vi, en: typed.en, until }
  await options.sql.begin(async transaction => {
    await setBanner(transaction, banner)
    const subject = `${typed.until} +07:00`
    await recordAction(transaction, { by, action: 'banner.set', subject, reason: `${typed.vi} / ${typed.en}` })
  })
  options.announcements.forget()
  return { kind: 'redirect', to: '/operator/banner?done=banner' }
}
